"""Half a secret is a secret too: where what a server echoes is cut, it is scrubbed before."""

import json
from contextlib import suppress
from typing import Any

import pytest

from remote_evals import Limits, RemoteError, RemoteTarget, render_json_report, render_junit
from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.json_events import MAX_QUOTED_CHARS
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.transport.limits import SizeLimits
from remote_evals.transport.responses import MAX_ENCODING_CHARS, MAX_TEXT_CHARS
from tests.serving.deployments import PATIENT, STREAM_HEAD, Failure, chunks, fail_among_others, listen, sending

TOKEN = "Aq1zXs2wDe3cVf4rBg5tNh6yMj7u"
PIECES = {TOKEN[at : at + 6] for at in range(len(TOKEN) - 5)}
LONGEST_TYPE = 60


def around(limit: int) -> list[int]:
    """Return offsets at which the token stands before, across and behind a limit."""
    return [limit - len(TOKEN) - 3, *range(limit - len(TOKEN), limit + 1, 3), limit]


async def failure_of(*parts: bytes, limits: Limits = PATIENT) -> Failure:
    """Return how a case failed that got these parts."""
    async with listen(sending(*parts)) as host:
        return await fail_among_others(f"http://{host}", token=TOKEN, limits=limits)


def assert_no_piece(failure: Failure, *, whatever_case: bool = False) -> None:
    """Assert that no six characters of the token in a row are in the error or in a report."""
    report = failure.report
    shown = "\n".join([repr(failure.error), repr(report), render_json_report(report), render_junit(report)])
    pieces = PIECES
    if whatever_case:
        shown, pieces = shown.lower(), {piece.lower() for piece in PIECES}
    assert not [piece for piece in pieces if piece in shown], str(failure.error)


def answer(status: int, body: bytes, *headers: bytes) -> bytes:
    """Return a whole answer."""
    head = b"".join(header + b"\r\n" for header in headers)
    return b"HTTP/1.1 %d Some Status\r\n%bcontent-length: %d\r\n\r\n%b" % (status, head, len(body), body)


@pytest.mark.parametrize("offset", around(MAX_TEXT_CHARS))
@pytest.mark.parametrize("kind", ["text", "JSON", "page"])
async def test_a_token_at_the_cut_of_a_body(kind: str, offset: int) -> None:
    """Of a token that the quote of an error body would cut no piece is left."""
    text = f"{'x' * offset}{TOKEN} and more"
    body = json.dumps({"error": text}) if kind == "JSON" else text
    assert_no_piece(await failure_of(answer(200 if kind == "page" else 500, body.encode())))


@pytest.mark.parametrize("offset", around(MAX_QUOTED_CHARS))
async def test_a_token_at_the_cut_of_a_frame(offset: int) -> None:
    """Of a token that the quote of a bad frame would cut no piece is left."""
    frame = f"data: {'x' * offset}{TOKEN} and more\n\n".encode()
    assert_no_piece(await failure_of(STREAM_HEAD, *chunks([frame])))


@pytest.mark.parametrize("offset", around(LONGEST_TYPE))
async def test_a_token_at_the_cut_of_an_event_type(offset: int) -> None:
    """Of a token that stands in the type of the last event no piece is left where a long type is cut."""
    frame = json.dumps({"type": f"{'x' * offset}{TOKEN}"}).encode()
    assert_no_piece(await failure_of(STREAM_HEAD, *chunks([b"data: %b\n\n" % frame])))


@pytest.mark.parametrize("offset", around(SizeLimits().quote_bytes)[1::3])
async def test_a_token_where_the_reading_of_a_body_ends(offset: int) -> None:
    """A token that is cut because no more of a body is read is not quoted in part, though blanks before it vanish."""
    assert_no_piece(await failure_of(answer(500, b" " * offset + TOKEN.encode() + b" and more")))


@pytest.mark.parametrize("offset", around(MAX_ENCODING_CHARS))
async def test_a_token_at_the_cut_of_an_encoding(offset: int) -> None:
    """Of a token that stands in the name of an encoding, which is quoted in small letters, no piece is left."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: %b\r\n\r\n"
    failure = await failure_of(head % f"{'x' * offset}{TOKEN}-more".encode())
    assert "compressed" in failure.error.happened
    assert_no_piece(failure, whatever_case=True)


@pytest.mark.parametrize("length", [8, len(TOKEN) - 1])
async def test_a_token_whose_rest_never_comes(length: int) -> None:
    """The start of a token at which a body stopped coming is not quoted."""
    head = b"HTTP/1.1 500 Some Status\r\ncontent-length: 1000\r\n\r\n"
    failure = await failure_of(head + f"no {TOKEN[:length]}".encode(), limits=Limits(first_event_s=0.4))
    assert "500: no" in failure.error.happened
    assert_no_piece(failure)


@pytest.mark.parametrize(
    "headers",
    [[f"content-type: text/{TOKEN}".encode()], [f"location: https://{TOKEN}.test/".encode()]],
    ids=["content type", "redirect"],
)
async def test_a_token_whose_case_is_lost(headers: list[Any]) -> None:
    """A token is not shown in small letters either, as hosts and types are written."""
    status = 302 if b"location" in headers[0] else 200
    assert_no_piece(await failure_of(answer(status, b"", *headers)), whatever_case=True)


def test_the_longest_type_is_the_one_tested() -> None:
    """The limit around which event types are tested here is where they are cut."""
    run = RunBuilder(CHAT.open_order())
    run._last_type = "x" * 1000
    assert run.last_event is not None
    assert len(run.last_event) == LONGEST_TYPE


@pytest.mark.parametrize("end", [b"", b'data: {"type":"run.done","finishReason":"length","text":"It is %b"}\n\n'])
async def test_a_reply_that_ends_inside_a_secret_shows_none_of_it(end: bytes) -> None:
    """Where a stream breaks, or the agent stops, in the middle of the token, the part that came is hidden too."""
    half = TOKEN[:-3].encode()
    delta = b'data: {"type":"text.delta","text":"It is %b"}\n\n' % half
    async with (
        listen(sending(STREAM_HEAD, *chunks([delta, end % half if end else b": x\n\n"]))) as host,
        RemoteTarget(f"http://{host}", token=TOKEN, limits=PATIENT) as target,
        target.open_session() as session,
    ):
        with suppress(RemoteError):
            await session.send("hi", 1)
        assert session.partial is not None
        assert session.partial.reply == "It is [redacted]"
