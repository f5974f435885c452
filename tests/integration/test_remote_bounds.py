"""What a stream may hold at most, and frames that no report could be written from."""

import json

import pytest

from remote_evals import RemoteStreamError
from remote_evals.targets._sse import MAX_DEPTH, MAX_FRAME_CHARS
from tests.integration.serving import LAST_CHUNK, RUN_DONE, STREAM_HEAD, Connection, chunks, fail_among_others, listen

HALF = b'data: {"type":"text.delta","text":"Half"}\n\n'


async def fail_on(*frames: bytes) -> RemoteStreamError:
    """Send half a reply, the frames and an end, and return the error that the frames make."""

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, *chunks([HALF, *frames, RUN_DONE]), LAST_CHUNK])

    async with listen(answer) as host:
        failure = await fail_among_others(f"http://{host}")
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
    error = await fail_on(b"data: ", *[piece] * (MAX_FRAME_CHARS // len(piece) + 2))
    assert error.happened == f"a single event is longer than {MAX_FRAME_CHARS} characters"


async def test_a_frame_as_deep_as_allowed_is_read() -> None:
    """Nesting up to the bound is no mistake: the stream then fails for its missing end alone."""
    deep = json.loads("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    frame = b"data: " + json.dumps({"type": "x", "n": deep}).encode() + b"\n\n"

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, *chunks([frame]), LAST_CHUNK])

    async with listen(answer) as host:
        error = (await fail_among_others(f"http://{host}")).error
    assert error.happened == "the stream ended after x, before run.done"
