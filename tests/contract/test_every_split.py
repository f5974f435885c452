"""However a network cuts a stream, and however a server spells it, the run that comes out is the same."""

import asyncio
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remote_evals import RemoteTarget
from tests.contract.facts import FACTS, RECORDINGS, facts_of
from tests.contract.replay import Bytes, Connection, chunks, listen, replay

BOM = b"\xef\xbb\xbf"


def with_data_as(prefix: bytes, body: bytes) -> bytes:
    """Return the body with its data lines begun otherwise."""
    return re.sub(rb"^data: ", prefix, body, flags=re.MULTILINE)


SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda body: body.replace(b"\n", b"\r\n"),
    "CR": lambda body: body.replace(b"\n", b"\r"),
    "mixed line ends": lambda body: body.replace(b"\n\n", b"\r\n\n").replace(b"}\n", b"}\r"),
    "byte-order mark": lambda body: BOM + body,
    "no space after the colon": lambda body: with_data_as(b"data:", body),
    "several data lines": lambda body: body.replace(b'\ndata: {"', b'\ndata: {\ndata:\ndata: "'),
    "comments": lambda body: b": hello\n\n" + body.replace(b"\n\n", b"\n: keep-alive\n\n:\n\n"),
    "unknown fields": lambda body: with_data_as(b"id: 7\nretry: 10\nfoo: bar\nbaz\ndata: ", body),
    "keep-alives after an id": lambda body: b"id: 7\n\n" + body.replace(b"\n\n", b"\n\n: keep-alive\n\n"),
    "more blank lines": lambda body: b"\n\n" + body.replace(b"\n\n", b"\n\n\n\n"),
    "all of it": lambda body: BOM + with_data_as(b": x\nid: 1\ndata:", body).replace(b"\n", b"\r\n"),
}


def bytewise(body: bytes) -> Bytes:
    return (body[at : at + 1] for at in range(len(body)))


async def assert_all_rebuilt(change: Callable[[bytes], Bytes], *names: str) -> None:
    """Send the named recordings at once, all of them by default, and compare each run with its facts."""

    async def facts_over_socket(name: str) -> dict[str, object]:
        async with target.open_session() as session:
            return facts_of(await session.send(name, 1))

    names = names or tuple(RECORDINGS)
    async with replay(change) as url, RemoteTarget(url) as target:
        rebuilt = await asyncio.gather(*map(facts_over_socket, names))
    assert dict(zip(names, rebuilt, strict=True)) == {name: FACTS[name] for name in names}


async def test_one_byte_a_chunk() -> None:
    """A stream that comes one byte a chunk gives the same run: no character, line end or frame needs to be whole."""
    await assert_all_rebuilt(bytewise)


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_spelling_in_one_chunk(spelling: str) -> None:
    """Whatever the event-stream format allows gives the same run as what the reference server sends."""
    await assert_all_rebuilt(lambda body: [SPELLINGS[spelling](body)])


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_spelling_one_byte_a_chunk(spelling: str) -> None:
    """The same holds when a chunk ends between any two bytes: inside CRLF, a mark, a comment or a character."""
    await assert_all_rebuilt(lambda body: bytewise(SPELLINGS[spelling](body)), "09_subagent", "12_unicode")


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(RECORDINGS), spelling=st.sampled_from(list(SPELLINGS)), at=st.sets(st.integers(1, 6000)))
def test_any_split(name: str, spelling: str, at: set[int]) -> None:
    """A stream that is cut anywhere gives the same run."""

    def cut(body: bytes) -> Bytes:
        spelled = SPELLINGS[spelling](body)
        cuts = [0, *sorted(place for place in at if place < len(spelled)), len(spelled)]
        return (spelled[start:end] for start, end in pairwise(cuts))

    asyncio.run(assert_all_rebuilt(cut, name))


async def test_a_charset_parameter_is_not_believed() -> None:
    """A stream is UTF-8 whatever its type says, as the format has it."""
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;charset=iso-8859-1\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    frame = 'data: {"type":"run.done","finishReason":"stop","text":"é 日本"}\n\n'.encode()

    async def answer(connection: Connection) -> None:
        await connection.send([head, *chunks([frame])])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        assert (await session.send("hi", 1)).reply == "é 日本"
