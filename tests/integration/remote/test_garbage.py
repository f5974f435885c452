"""Answers that no well-behaved server gives: bytes that are not HTTP, or not the HTTP that they say they are."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable

import pytest

from remote_evals import Limits, RemoteStatusError, RemoteStreamError, RemoteTarget, RemoteTimeoutError
from tests.serving.deployments import (
    LAST_CHUNK,
    PATIENT,
    RUN_DONE,
    STREAM_HEAD,
    Connection,
    chunks,
    closing,
    fail_among_others,
    listen,
    sending,
)

HALF = b'data: {"type":"text.delta","text":"Half"}\n\n'
CHUNK = b"%x\r\n%b\r\n" % (len(HALF), HALF)


def endless(head: bytes, part: bytes) -> Callable[[Connection], Awaitable[None]]:
    """Return an answer that never stops, for as long as the client stays."""

    async def answer(connection: Connection) -> None:
        await connection.send([head])
        while True:
            await connection.send([part])

    return answer


@pytest.mark.parametrize(
    "parts",
    [[b"SSH-2.0-OpenSSH_9.6\r\n"], [b"\x00\xff" * 50], [b"HTTP/1.1 abc\r\n\r\n"], [b"220 mail.test ESMTP\r\n" * 3]],
    ids=["ssh", "binary", "no status", "mail"],
)
async def test_another_protocol_is_no_http(parts: list[bytes]) -> None:
    """A port of something else gives an error that sends the reader to the URL and port."""
    async with listen(closing(*parts)) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert type(error) is RemoteStreamError
    assert error.happened == "the answer is not HTTP that can be read"
    assert "port" in error.advice


@pytest.mark.parametrize("parts", [[], [b"HTTP/1.1 200 OK\r\ncontent-ty"]], ids=["nothing", "half the headers"])
async def test_a_server_that_hangs_up_is_no_connect_timeout(parts: list[bytes]) -> None:
    """A connection that closes before an answer is a broken stream, since the agent may have seen the request."""
    async with listen(closing(*parts)) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert type(error) is RemoteStreamError
    assert error.happened.startswith("the connection was closed before the first event")


@pytest.mark.parametrize("bad", [b"zz\r\n", b"-5\r\n", b"\r\n\r\n"], ids=["no number", "negative", "nothing"])
async def test_a_bad_chunk_size_ends(bad: bytes) -> None:
    """Broken chunks, over which aiohttp may wait without end, end the case: at once, or by the silence clock."""
    async with listen(sending(STREAM_HEAD, CHUNK, bad)) as host:
        failure = await fail_among_others(f"http://{host}", limits=Limits(silence_s=0.2))
    assert isinstance(failure.error, RemoteStreamError | RemoteTimeoutError)
    assert failure.row.run.reply == "Half"


async def test_a_body_shorter_than_it_said_is_cut() -> None:
    """A stream that closes before its Content-Length is a broken one."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000\r\n\r\n"
    async with listen(closing(head, HALF)) as host:
        failure = await fail_among_others(f"http://{host}")
    assert type(failure.error) is RemoteStreamError
    assert failure.error.happened.startswith("the connection was closed after text.delta")
    assert failure.row.run.reply == "Half"


async def test_a_compressed_stream_is_read_all_the_same() -> None:
    """A proxy that compresses although it was asked not to gives the same run."""
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
    async with (
        listen(sending(head, *chunks([gzip.compress(HALF + RUN_DONE)]))) as host,
        RemoteTarget(f"http://{host}", limits=PATIENT) as target,
        target.open_session() as session,
    ):
        assert (await session.send("hi", 1)).finish_reason == "stop"


async def test_broken_compression_is_a_broken_stream() -> None:
    """A stream that says it is compressed and is not gives an error that names the proxy."""
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
    async with listen(sending(head, CHUNK, LAST_CHUNK)) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert type(error) is RemoteStreamError
    assert error.happened == "the answer's compression is broken"
    assert "proxy" in error.advice


async def test_an_event_without_end_is_not_kept_without_end() -> None:
    """A single event that never ends is given up at a size that no event has."""
    async with listen(endless(STREAM_HEAD + CHUNK, b"100000\r\n%b\r\n" % (b"x" * 0x100000))) as host:
        failure = await fail_among_others(f"http://{host}")
    assert type(failure.error) is RemoteStreamError
    assert "a single event is longer than" in failure.error.happened
    assert failure.row.run.reply == "Half"


@pytest.mark.parametrize("status", [200, 500], ids=["page", "error"])
async def test_a_page_without_end_is_quoted_and_left(status: int) -> None:
    """Of an answer that is no stream only the start is read, and at most 300 characters of it are quoted."""
    head = b"HTTP/1.1 %d OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n" % status
    async with listen(endless(head, b"a\r\n<p>\nno</p>\r\n")) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert type(error) is (RemoteStreamError if status == 200 else RemoteStatusError)
    assert error.happened.partition(": ")[2].startswith("<p> no</p><p> no</p>")
    assert len(error.happened.partition(": ")[2]) == 300


@pytest.mark.slow
async def test_a_status_is_told_though_its_body_never_ends() -> None:
    """A failing answer whose body stalls is told with its status, and not as an answer without headers."""
    async with listen(sending(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 1000\r\n\r\n<p>Bad")) as host:
        error = (await fail_among_others(f"http://{host}", limits=Limits(headers_s=0.3))).error
    assert "502" in error.happened
    assert "no response headers" not in error.happened


async def test_a_frame_after_the_end_is_not_read() -> None:
    """What comes after run.done is not waited for: the turn is over, whatever the connection does."""
    left = asyncio.Event()

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, *list(chunks([RUN_DONE]))[:-1]])
        await connection.gone()
        left.set()

    async with listen(answer) as host, RemoteTarget(f"http://{host}", limits=PATIENT) as target:
        async with target.open_session() as session:
            assert (await session.send("hi", 1)).reply == "Hello."
        await asyncio.wait_for(left.wait(), 10)
