"""Faults of the delivery and of single frames, each tested on the wire."""

import json
import re
import socket

import httpx
import pytest

from tests.fake_server.wire_client import (
    LAST_CHUNK,
    TYPES,
    ask,
    is_silent,
    post,
    raw_turn,
    read_to_end,
    read_until,
    serve_faulty,
    transcript,
    types_in,
)

KEEP_ALIVE_CHUNK = b"e\r\n: keep-alive\n\n"


def test_no_headers_sends_nothing_at_all() -> None:
    """`no-headers` leaves the request without a single byte."""
    with serve_faulty("no-headers") as server, raw_turn(server) as connection:
        server.wait_for_requests(1)
        assert is_silent(connection)


def test_no_headers_can_end() -> None:
    """`no-headers` with `for` answers with the whole stream after that time."""
    with serve_faulty({"name": "no-headers", "for": "30ms"}) as server:
        assert types_in(post(server).text) == TYPES


def test_a_turn_that_never_got_headers_never_ran() -> None:
    """A turn whose client left before the headers is not in the transcript."""
    with serve_faulty({"name": "no-headers", "times": 1}) as server:
        with raw_turn(server):
            server.wait_for_requests(1)
        ask(server, "again")
        assert [message["content"] for message in transcript(server)["messages"]] == ["again", "hello there"]


def test_silence_falls_after_some_events() -> None:
    """`silence` sends `after` events and then nothing."""
    with serve_faulty({"name": "silence", "after": 2}) as server, raw_turn(server) as connection:
        read_until(connection, b"step.start")
        assert is_silent(connection)


def test_silence_can_end() -> None:
    """`silence` with `for` sends the rest of the stream after that time."""
    with serve_faulty({"name": "silence", "after": 2, "for": "30ms"}) as server:
        assert types_in(post(server).text) == TYPES


def test_keep_alives_go_on_in_place_of_events() -> None:
    """`keep-alives` sends comments after `after` events, and no further event."""
    with serve_faulty({"name": "keep-alives", "after": 2, "every": "5ms"}) as server, raw_turn(server) as connection:
        got = read_until(connection, b"\r\n".join([KEEP_ALIVE_CHUNK] * 3))
    assert got.count(b"data: ") == 2


def test_keep_alives_can_end() -> None:
    """`keep-alives` with `for` sends the rest of the stream after that time."""
    with serve_faulty({"name": "keep-alives", "every": "5ms", "for": "20ms"}) as server:
        body = post(server).text
    assert body.startswith(": keep-alive\n\n: keep-alive\n\n")
    assert types_in(body) == TYPES


@pytest.mark.parametrize("after", [0, 2])
def test_cut_closes_the_connection_in_the_middle_of_the_body(after: int) -> None:
    """`cut` closes the connection after `after` events, without the last chunk."""
    with serve_faulty({"name": "cut", "after": after}) as server, raw_turn(server) as connection:
        got = read_to_end(connection)
    assert got.count(b"data: ") == after
    assert not got.endswith(LAST_CHUNK)


def test_cut_is_an_incomplete_body_to_a_client() -> None:
    """An HTTP client sees `cut` as an incomplete body."""
    with (
        serve_faulty({"name": "cut", "after": 3}) as server,
        pytest.raises(httpx.RemoteProtocolError, match="incomplete"),
    ):
        post(server)


def test_cut_after_all_events_still_leaves_the_body_incomplete() -> None:
    """`cut` after the last event still leaves out the last chunk."""
    with serve_faulty({"name": "cut", "after": 99}) as server, raw_turn(server) as connection:
        got = read_to_end(connection)
    assert b"event: done" in got
    assert not got.endswith(LAST_CHUNK)


def test_cut_can_come_before_the_headers() -> None:
    """The request is read whole and the connection closed in order, without a byte of an answer or any turn."""
    with serve_faulty({"name": "cut", "before_headers": True}) as server:
        with raw_turn(server) as connection:
            assert read_to_end(connection) == b""
        assert [request.body for request in server.requests] == [{"sessionId": "s", "input": "hi"}]
        assert transcript(server)["messages"] == []


def read_to_reset(connection: socket.socket) -> bytes:
    """Return all bytes up to a TCP reset."""
    got = b""
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            return got
        assert piece, "an orderly end"
        got += piece


@pytest.mark.parametrize("after", [0, 2])
def test_reset_is_a_tcp_reset_after_some_events(after: int) -> None:
    """`reset` sends the headers and `after` events, and then a TCP reset."""
    with serve_faulty({"name": "reset", "after": after}) as server, raw_turn(server) as connection:
        got = read_to_reset(connection)
    assert got.startswith(b"HTTP/1.1 200 OK")
    assert got.count(b"data: ") == after


def test_reset_can_come_before_the_headers() -> None:
    """`reset` with `before_headers` resets the connection without a byte of an answer."""
    with serve_faulty({"name": "reset", "before_headers": True}) as server, raw_turn(server) as connection:
        assert read_to_reset(connection) == b""


def test_not_json_is_one_more_frame() -> None:
    """`not-json` adds a frame that is not JSON, and leaves the others as they are."""
    with serve_faulty({"name": "not-json", "after": 1}) as server:
        frames = post(server).text.split("\n\n")
    assert len(frames) == len([*TYPES, "not json", "done", ""])
    with pytest.raises(json.JSONDecodeError):
        json.loads(frames[1].removeprefix("data: "))


def test_half_frame_ends_the_body_properly_in_the_middle_of_an_event() -> None:
    """`half-frame` ends a complete body in the middle of an event."""
    with serve_faulty({"name": "half-frame", "after": 1}) as server:
        whole, half = post(server).text.split("\n\n")
    assert json.loads(whole.removeprefix("data: "))["type"] == "run.start"
    assert half.startswith('data: {"type":"step.start"')
    assert not half.endswith("}")


def test_no_run_done_ends_the_body_properly_before_the_last_event() -> None:
    """`no-run-done` ends a complete body before run.done."""
    with serve_faulty("no-run-done") as server:
        body = post(server).text
    assert types_in(body) == TYPES[:-1]
    assert "event: done" not in body


def test_byte_at_a_time_sends_chunks_of_one_byte() -> None:
    """`byte-at-a-time` sends the same stream in chunks of one byte."""
    with serve_faulty("byte-at-a-time") as server, raw_turn(server) as connection:
        got = read_until(connection, LAST_CHUNK)
    body = got.partition(b"\r\n\r\n")[2]
    chunks = re.findall(rb"1\r\n([\x00-\xff])\r\n", body)
    assert b"".join(b"1\r\n%b\r\n" % chunk for chunk in chunks) + LAST_CHUNK == body
    assert types_in(b"".join(chunks).decode()) == TYPES


@pytest.mark.parametrize(
    ("given", "sent"), [({}, "text/plain"), ({"content_type": "application/json"}, "application/json")]
)
def test_wrong_content_type_mislabels_the_stream(given: dict[str, str], sent: str) -> None:
    """`wrong-content-type` sends the same stream under another type, by default text/plain."""
    with serve_faulty({"name": "wrong-content-type", **given}) as server:
        answer = post(server)
    assert answer.headers["content-type"] == sent
    assert types_in(answer.text) == TYPES
