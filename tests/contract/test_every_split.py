"""A run is the same however a network cuts its stream, and however a server writes it."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remote_evals import RemoteTarget
from tests.contract.facts import FACTS, RECORDINGS, get_facts
from tests.contract.replay import Bytes, replay
from tests.contract.spellings import SPELLINGS, cut


def bytewise(body: bytes) -> Bytes:
    """Return the bytes of the body one by one."""
    return (body[at : at + 1] for at in range(len(body)))


async def assert_all_rebuilt(change: Callable[[bytes], Bytes], *names: str) -> None:
    """Send the named recordings at once, all of them by default, and compare each run with its facts."""

    async def facts_over_socket(name: str) -> dict[str, object]:
        async with target.open_session() as session:
            return get_facts(await session.send(name, 1))

    names = names or tuple(RECORDINGS)
    async with replay(change) as url, RemoteTarget(url) as target:
        rebuilt = await asyncio.gather(*map(facts_over_socket, names))
    assert dict(zip(names, rebuilt, strict=True)) == {name: FACTS[name] for name in names}


async def test_one_byte_a_chunk() -> None:
    """A stream of one byte per chunk gives the same run: no character, line end or frame has to come whole."""
    await assert_all_rebuilt(bytewise)


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_spelling_in_one_chunk(spelling: str) -> None:
    """Any way to write a stream that the format allows gives the same run."""
    await assert_all_rebuilt(lambda body: [SPELLINGS[spelling](body)])


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_spelling_one_byte_a_chunk(spelling: str) -> None:
    """The same holds if a chunk ends between any two bytes: inside CRLF, a mark, a comment or a character."""
    await assert_all_rebuilt(lambda body: bytewise(SPELLINGS[spelling](body)), "09_subagent", "12_unicode")


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(RECORDINGS), spelling=st.sampled_from(list(SPELLINGS)), at=st.sets(st.integers(1, 6000)))
def test_any_split(name: str, spelling: str, at: set[int]) -> None:
    """A stream that is cut anywhere gives the same run."""
    asyncio.run(assert_all_rebuilt(lambda body: cut(SPELLINGS[spelling](body), at), name))
