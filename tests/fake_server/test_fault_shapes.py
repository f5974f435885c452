"""Streams in another shape: compressed, held back, slowed down, padded, or with broken frames."""

import json
import re
import time
import zlib
from collections.abc import Iterator

import httpx
import pytest

from fake_server.fault_frames import BODY_CHANGES, FRAME_CHANGES
from fake_server.fault_order import ORDER_CHANGES
from fake_server.faults import BODIES, FRAMES, ORDER, STREAMS
from fake_server.stream import CHANGES
from tests.fake_server.wire_client import (
    LAST_CHUNK,
    TYPES,
    events_in,
    is_silent,
    one,
    post,
    raw_turn,
    read_until,
    send,
    serve,
    serve_faulty,
    types_in,
)

TURN = {"sessionId": "s", "input": "hi"}


def chunks_in(body: bytes) -> Iterator[bytes]:
    """Yield the chunks of a chunked body."""
    while body:
        size, _, rest = body.partition(b"\r\n")
        yield rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]


def test_every_fault_of_a_stream_changes_it() -> None:
    """Every fault of a stream changes its frames, apart from the two that change the headers."""
    assert set(CHANGES) == set(STREAMS) - {"no-headers", "wrong-content-type"}
    for changes, names in ((BODY_CHANGES, BODIES), (FRAME_CHANGES, FRAMES), (ORDER_CHANGES, ORDER)):
        assert set(changes) <= set(names)


def test_buffered_sends_headers_and_holds_the_events_back() -> None:
    """`buffered` sends only the headers while the run goes on."""
    with serve_faulty("buffered", delay="10m") as server, raw_turn(server) as connection:
        assert read_until(connection, b"\r\n\r\n").endswith(b"\r\n\r\n")
        assert is_silent(connection)


def test_buffered_sends_all_events_in_one_piece() -> None:
    """`buffered` sends the whole stream as one chunk."""
    with serve_faulty("buffered") as server, raw_turn(server) as connection:
        got = read_until(connection, LAST_CHUNK)
    whole, end = chunks_in(got.partition(b"\r\n\r\n")[2])
    assert (types_in(whole.decode()), end) == (TYPES, b"")


def test_compressed_is_gzip_even_for_a_client_that_takes_none() -> None:
    """`compressed` sends gzip, labeled as such, whatever the client accepts."""
    with serve_faulty("compressed") as server:
        answer = send(server, "POST", "/chat", json=TURN, headers={"accept-encoding": "identity"})
    assert (answer.headers["content-encoding"], answer.headers["content-type"]) == ("gzip", "text/event-stream")
    assert types_in(answer.text) == TYPES


def test_compressed_events_can_be_read_as_they_come() -> None:
    """The first compressed event can be read while the run goes on."""
    with (
        serve_faulty("compressed", delay="10m") as server,
        httpx.stream("POST", f"{server.url}/chat", json=TURN) as answer,
    ):
        first = zlib.decompressobj(wbits=31).decompress(next(answer.iter_raw()))
    assert types_in(first.decode()) == ["run.start"]


def test_slow_waits_before_each_frame() -> None:
    """`slow` waits before each event and before the frame that closes the stream."""
    began_s = time.monotonic()
    with serve_faulty({"name": "slow", "every": "10ms"}) as server:
        assert types_in(post(server).text) == TYPES
    assert time.monotonic() - began_s >= 0.01 * len([*TYPES, "done"])


def test_a_huge_frame_is_one_event_with_padding_in_pieces() -> None:
    """A huge frame has the given size, is sent in pieces, and the run around it is whole."""
    with serve_faulty({"name": "huge-frame", "after": 2, "size": 80_000}) as server, raw_turn(server) as connection:
        got = read_until(connection, LAST_CHUNK)
    chunks = list(chunks_in(got.partition(b"\r\n\r\n")[2]))
    frames = b"".join(chunks).split(b"\n\n")
    assert max(map(len, chunks)) < 70_000
    assert [len(frame) + 2 for frame in frames if len(frame) > 1000] == [80_000]
    assert types_in(b"\n\n".join(frames).decode()) == TYPES
    assert json.loads(frames[2].removeprefix(b"data: "))["text"] == "hello "


def test_a_frame_is_never_smaller_than_its_event() -> None:
    """A size that the event itself exceeds adds no padding."""
    with serve_faulty({"name": "huge-frame", "after": 2, "size": 1}) as server:
        body = post(server).text
    assert types_in(body) == TYPES
    assert events_in(body)[2]["padding"] == ""


@pytest.mark.parametrize(("after", "text"), [(0, b"\xe9hello "), (3, b"\xe9there"), (99, None)])
def test_invalid_utf8_is_in_the_next_text(after: int, text: bytes | None) -> None:
    """The next text.delta starts with an invalid byte, and nothing else is wrong."""
    with serve_faulty({"name": "invalid-utf8", "after": after}) as server:
        body = post(server).content
    assert body.count(b"\xe9") == (0 if text is None else 1)
    assert text is None or b'"text":"' + text + b'"' in body
    assert types_in(body.decode("utf-8", "replace")) == TYPES
    assert one(events_in(body.decode("utf-8", "replace")), "run.done")["text"] == "hello there"


def test_no_done_ends_the_body_with_the_last_event() -> None:
    """`no-done` ends the body after run.done, without the frame that closes the stream."""
    with serve_faulty("no-done") as server:
        body = post(server).text
    assert types_in(body) == TYPES
    assert body.endswith("}\n\n")


def test_no_last_blank_line_ends_the_body_with_the_line_of_the_last_event() -> None:
    """`no-last-blank-line` ends the body after the line of run.done, without the blank line of its frame."""
    with serve_faulty("no-last-blank-line") as server:
        body = post(server).text
    assert types_in(body) == TYPES
    assert re.search(r"[^\n]\n\Z", body)


def test_the_judge_and_health_take_the_faults_of_any_body() -> None:
    """A fault of bodies works for a completion and for a health check."""
    script = {
        "replies": [{"text": "hi"}],
        "health": {"fault": "compressed"},
        "judge": {"replies": [{"content": "fine", "fault": "compressed"}]},
    }
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    with serve(script) as server:
        health, judged = send(server, "GET", "/health"), send(server, "POST", "/v1/chat/completions", json=asked)
    assert (health.headers["content-encoding"], health.text) == ("gzip", "ok")
    assert judged.headers["content-encoding"] == "gzip"
    assert judged.json()["choices"][0]["message"]["content"] == "fine"
