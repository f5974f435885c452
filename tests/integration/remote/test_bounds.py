"""What an answer may hold and take at most, and frames that no report could be written from."""

import asyncio
import json

import pytest

from remote_evals import Limits, RemoteStatusError, RemoteStreamError, RemoteTimeoutError
from remote_evals.protocols.json_events import MAX_DEPTH
from remote_evals.transport.limits import SizeLimits
from tests.serving.deployments import (
    LAST_CHUNK,
    RUN_DONE,
    STREAM_HEAD,
    Connection,
    chunks,
    fail_among_others,
    listen,
    sending,
)

HALF = b'data: {"type":"text.delta","text":"Half"}\n\n'


async def fail_on(*frames: bytes, sizes: SizeLimits | None = None) -> RemoteStreamError:
    """Send half a reply, the frames and an end, and return the error that the frames make."""

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, *chunks([HALF, *frames, RUN_DONE]), LAST_CHUNK])

    async with listen(answer) as host:
        failure = await fail_among_others(f"http://{host}", sizes=sizes)
    assert isinstance(failure.error, RemoteStreamError)
    assert failure.row.run.reply == "Half"
    return failure.error


@pytest.mark.parametrize(
    ("data", "happened"),
    [
        (b"nope", "an event is not JSON (Expecting value: line 1 column 1 (char 0)): 'nope'"),
        (b'{"type":"x"', "an event is not JSON (Expecting ',' delimiter"),
        (b'{"type":"x"} {}', "an event is not JSON (Extra data"),
        (b'{"type":"x","n":NaN}', "an event is not JSON (NaN is not a JSON value)"),
        (b'{"type":"x","n":-Infinity}', "an event is not JSON (-Infinity is not a JSON value)"),
        (b'{"type":"x","n":%b}' % (b"9" * 5000), "an event is not JSON (Exceeds the limit"),
        (b'["type"]', "an event is not a JSON object: '[\"type\"]'"),
        (b"null", "an event is not a JSON object: 'null'"),
        (b"[" * 100_000, "an event is not JSON (maximum recursion depth exceeded"),
        (b'{"type":"x","n":%b1%b}' % (b"[" * MAX_DEPTH, b"]" * MAX_DEPTH), f"nested more than {MAX_DEPTH} deep"),
    ],
    ids=lambda value: value[:20].decode() if isinstance(value, bytes) else "",
)
async def test_a_frame_that_is_no_event_ends_the_turn(data: bytes, happened: str) -> None:
    """What cannot be an event is quoted from its start; what came before it in the same packet is kept."""
    assert happened in (await fail_on(b"data: %b\n\n" % data)).happened


async def test_a_frame_without_end_is_bounded() -> None:
    """A frame that grows beyond the bound ends the turn, instead of filling the memory."""
    piece = b"x" * (1024 * 1024)
    error = await fail_on(b"data: ", *[piece] * (SizeLimits().frame_bytes // len(piece) + 2))
    assert error.happened == "a single event is longer than 16 MiB"


async def test_a_frame_as_deep_as_allowed_is_read() -> None:
    """Nesting up to the bound is no mistake: the stream then fails for its missing end alone."""
    deep = json.loads("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    frame = b"data: " + json.dumps({"type": "x", "n": deep}).encode() + b"\n\n"

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, *chunks([frame]), LAST_CHUNK])

    async with listen(answer) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert error.happened == "the stream ended after x, before run.done"


@pytest.mark.slow
async def test_a_stream_without_end_is_bounded() -> None:
    """A stream that goes on beyond 256 MiB ends the turn, also where it is only keep-alives that fill it."""
    comment = b":" + b" " * (1024 * 1024) + b"\n\n"
    error = await fail_on(*[comment] * (SizeLimits().stream_bytes // len(comment) + 2))
    assert error.happened == "the stream has more than 256 MiB"
    assert "keeps sending" in error.advice


async def test_the_number_of_events_is_bounded() -> None:
    """A stream of more events than any run has ends the turn, however small they are."""
    assert SizeLimits().events == 1_000_000
    error = await fail_on(b'data: {"type":"x"}\n\n' * 20_000, sizes=SizeLimits(events=1_000))
    assert error.happened == "the stream has more than 1,000 events"


@pytest.mark.parametrize(
    "header", [b"x-big: " + b"a" * 100_000, b"\r\n".join(b"x-%d: a" % number for number in range(100_000))]
)
async def test_response_headers_are_bounded(header: bytes) -> None:
    """Headers larger than any server sends are told as such, and not kept."""

    async def answer(connection: Connection) -> None:
        await connection.send([b"HTTP/1.1 200 OK\r\n" + header + b"\r\n\r\n"])
        await connection.gone()

    async with listen(answer) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert type(error) is RemoteStreamError
    assert error.happened == "the response headers are larger than any that a server should send"


@pytest.mark.parametrize("encoding", ["br", "zstd", "x-unknown", "gzip, br"])
async def test_a_compression_that_nobody_bounds_is_refused(encoding: str) -> None:
    """A stream in a compression that was not asked for, and of which a little can hold very much, is not read."""

    async def answer(connection: Connection) -> None:
        head = STREAM_HEAD[:-2] + f"content-encoding: {encoding}\r\n\r\n".encode()
        await connection.send([head, *chunks([RUN_DONE]), LAST_CHUNK])

    async with listen(answer) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert type(error) is RemoteStreamError
    assert error.happened == f"the stream is compressed as {encoding!r}, which was not asked for"
    assert "proxy" in error.advice


async def test_an_error_body_in_such_a_compression_is_not_read_either() -> None:
    """The status is told, and nothing of a body that nobody can bound."""

    async def answer(connection: Connection) -> None:
        body = b"HTTP/1.1 500 Oops\r\ncontent-encoding: zstd\r\ncontent-length: 4\r\n\r\nabcd"
        await connection.send([body])

    async with listen(answer) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert isinstance(error, RemoteStatusError)
    assert error.happened == "the answer was 500"


async def test_a_turn_has_a_clock_of_its_own() -> None:
    """A turn that goes on and on, though never silent, ends by the limit of a turn, which the message names."""

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD])
        while True:
            await connection.send([next(iter(chunks([HALF])))])
            await asyncio.sleep(0.01)

    async with listen(answer) as host:
        error = (await fail_among_others(f"http://{host}", limits=Limits(turn_s=0.3))).error
    assert isinstance(error, RemoteTimeoutError)
    assert (error.clock, error.last_event) == ("turn", "text.delta")
    assert error.happened == "timed out: the turn was not done within 300ms; the last event was text.delta"
    assert "--turn-timeout" in error.advice


@pytest.mark.parametrize("frame", [b"event: ping\ndata: {}\n\n", b'data: {"type":"ping"}\n\n', b": x\n\n"], ids=repr)
async def test_a_keep_alive_in_any_dress_is_no_sign_of_life(frame: bytes) -> None:
    """What only keeps the connection open does not keep the clock of silence from running."""

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, next(iter(chunks([HALF])))])
        while True:
            await connection.send([next(iter(chunks([frame])))])
            await asyncio.sleep(0.02)

    async with listen(answer) as host:
        error = (await fail_among_others(f"http://{host}", limits=Limits(silence_s=0.3))).error
    assert isinstance(error, RemoteTimeoutError)
    assert (error.clock, error.last_event) == ("silence", "text.delta")


async def test_the_earlier_of_turn_and_case_is_the_one_that_is_told() -> None:
    """Where the case has less time than the turn, the case's limit is named."""
    async with listen(sending(STREAM_HEAD)) as host:
        error = (await fail_among_others(f"http://{host}", limits=Limits(turn_s=5), timeout_s=0.2)).error
    assert isinstance(error, RemoteTimeoutError)
    assert error.clock == "case"


async def test_a_clock_may_have_no_limit() -> None:
    """`inf` lets a wait take any time; the others still run."""
    limits = Limits(headers_s=float("inf"), first_event_s=0.2, turn_s=float("inf"), connect_s=float("inf"))
    async with listen(sending(STREAM_HEAD)) as host:
        error = (await fail_among_others(f"http://{host}", limits=limits)).error
    assert isinstance(error, RemoteTimeoutError)
    assert error.clock == "first event"
