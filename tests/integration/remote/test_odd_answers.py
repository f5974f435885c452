"""Answers that are odd in one thing alone, and what must come of them all the same."""

from dataclasses import replace

import pytest

from remote_evals import RemoteError, RemoteStatusError, RemoteStreamError, RemoteTarget, RunResult
from tests.serving.deployments import PATIENT, RUN_DONE, STREAM_HEAD, chunks, closing, listen

HALF = b'data: {"type":"text.delta","text":"Half"}\n\n'
CONTROLS = b"\x1b[31m\x00\x7f\xe2\x80\xae"
LONG = b"x" * 5_000


def stream(*frames: bytes) -> list[bytes]:
    return [STREAM_HEAD, *chunks(frames)]


def head(*lines: bytes) -> list[bytes]:
    return [b"\r\n".join([*lines, b"content-length: 0", b"", b""])]


async def meet(*parts: bytes) -> RunResult | RemoteError:
    """Return what comes of a turn that is answered with the parts and then closed."""
    limits = replace(PATIENT, silence_s=0.3)
    async with (
        listen(closing(*parts)) as host,
        RemoteTarget(f"http://{host}", limits=limits, retries=0) as target,
        target.open_session() as session,
    ):
        try:
            return await session.send("hi", 1)
        except RemoteError as error:
            return error


async def test_a_reason_phrase_need_not_be_utf8() -> None:
    """The words behind a status mean nothing: a run is a run, and an error is told by its status."""
    ended = await meet(STREAM_HEAD.replace(b"OK", b"Tr\xe8s bien"), *list(stream(RUN_DONE))[1:])
    assert isinstance(ended, RunResult)
    assert isinstance(await meet(*head(b"HTTP/1.1 500 Erreur \xe9")), RemoteStatusError)


async def test_a_number_may_be_as_long_as_json_allows() -> None:
    """A `seq` beyond all counting is odd, and the run is a run."""
    frames = b'data: {"type":"x","seq":%b}\n\n' % (b"9" * 4_300), b'data: {"type":"x","seq":0}\n\n'
    assert isinstance(await meet(*stream(*frames, RUN_DONE)), RunResult)


@pytest.mark.parametrize(
    "parts",
    [
        stream(b'data: {"type":"a\\n\\u001b[31m\\ud800"}\n\n'),
        head(b"HTTP/1.1 200 OK", b"content-type: \xe2\x80\xae\xc2\x85"),
        [b"HTTP/1.1 500 No\r\n\r\n" + CONTROLS],
    ],
    ids=["the last event", "the type", "the body"],
)
async def test_a_message_can_be_printed(parts: list[bytes]) -> None:
    """Whatever is quoted, a message is one line without anything that a terminal would act on."""
    error = await meet(*parts)
    assert isinstance(error, RemoteError)
    assert str(error).isprintable()


@pytest.mark.parametrize(
    "parts",
    [
        head(b"HTTP/1.1 200 OK", b"content-type: text/" + LONG),
        head(b"HTTP/1.1 302 Found", b"location: http://" + LONG),
    ],
    ids=["the type", "the address"],
)
async def test_a_message_is_short(parts: list[bytes]) -> None:
    """Whatever is quoted, a message can be read at a glance."""
    error = await meet(*parts)
    assert isinstance(error, RemoteError)
    assert len(str(error)) < 1_000


@pytest.mark.parametrize("bad", [b"zz\r\n", b"-5\r\n"], ids=["no number", "negative"])
async def test_a_bad_chunk_before_the_end_is_no_silence(bad: bytes) -> None:
    """A connection that broke is told as such and at once, and not after a while as an agent that hangs."""
    error = await meet(*stream(HALF)[:-1], bad)
    assert isinstance(error, RemoteStreamError)
    assert error.partial is not None
    assert error.partial.reply == "Half"
