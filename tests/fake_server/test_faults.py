"""The faults of answers and of streams, each tested on the wire."""

import json
import re
import socket
from typing import Any

import httpx
import pytest

from tests.fake_server.wire_client import (
    LAST_CHUNK,
    TYPES,
    ask,
    decide,
    events_in,
    is_silent,
    one,
    post,
    raw_turn,
    read_to_end,
    read_until,
    send,
    serve,
    serve_faulty,
    transcript,
    types_in,
)

KEEP_ALIVE_CHUNK = b"e\r\n: keep-alive\n\n"


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        ("unauthorized", 401, {"error": "Unauthorized"}),
        ("forbidden", 403, {"error": "Forbidden"}),
        ("rate-limited", 429, {"error": "Too Many Requests"}),
        ("server-error", 500, {"error": "The request failed. The server log has the details."}),
    ],
)
def test_a_status_fault_answers_json(name: str, status: int, body: dict[str, str]) -> None:
    """A fault of status 401, 403, 429 or 500 answers with a JSON error."""
    with serve_faulty(name) as server:
        answer = post(server)
    assert (answer.status_code, answer.json()) == (status, body)


def test_unauthorized_names_the_scheme() -> None:
    """A 401 has a WWW-Authenticate header."""
    with serve_faulty("unauthorized") as server:
        assert post(server).headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(("given", "sent"), [({}, "1"), ({"retry_after": 7}, "7"), ({"retry_after": "soon"}, "soon")])
def test_rate_limited_says_when_to_retry(given: dict[str, Any], sent: str) -> None:
    """A 429 has a Retry-After header, by default of 1 second."""
    with serve_faulty({"name": "rate-limited", **given}) as server:
        assert post(server).headers["retry-after"] == sent


def test_unavailable_is_the_page_of_a_proxy() -> None:
    """`unavailable` is the HTML page of a proxy with 503, and without Retry-After."""
    with serve_faulty("unavailable") as server:
        answer = post(server)
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html")
    assert "503 Service Temporarily Unavailable" in answer.text
    assert "retry-after" not in answer.headers


def test_unavailable_can_say_when_to_retry() -> None:
    """`unavailable` has a Retry-After header if the script gives one."""
    with serve_faulty({"name": "unavailable", "retry_after": 2}) as server:
        assert post(server).headers["retry-after"] == "2"


def test_status_answers_any_status_body_and_headers() -> None:
    """`status` answers with the status, text and headers that the script gives."""
    with serve_faulty(
        {"name": "status", "status": 418, "body": "short and stout", "headers": {"x-pot": "tea"}}
    ) as server:
        answer = post(server)
    assert (answer.status_code, answer.text, answer.headers["x-pot"]) == (418, "short and stout", "tea")
    assert answer.headers["content-type"] == "text/plain"


def test_status_answers_a_body_that_is_no_text_as_json() -> None:
    """`status` sends a body that is not text as JSON."""
    with serve_faulty({"name": "status", "status": 409, "body": {"error": "busy"}}) as server:
        answer = post(server)
    assert (answer.json(), answer.headers["content-type"]) == ({"error": "busy"}, "application/json")


def test_html_is_a_login_page_that_calls_itself_fine() -> None:
    """`html` is an HTML page with status 200."""
    with serve_faulty("html") as server:
        answer = post(server)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html")
    assert answer.text.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("given", "sent"), [({}, "/login"), ({"location": "https://sso.example/"}, "https://sso.example/")]
)
def test_redirect_points_elsewhere(given: dict[str, str], sent: str) -> None:
    """`redirect` is a 302 to the location of the script, by default to /login."""
    with serve_faulty({"name": "redirect", **given}) as server:
        answer = post(server)
    assert (answer.status_code, answer.headers["location"]) == (302, sent)


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


def test_times_lets_later_requests_through() -> None:
    """A fault with `times` strikes that many requests and no later one."""
    with serve_faulty({"name": "unavailable", "times": 2}) as server:
        assert [post(server).status_code for _ in range(3)] == [503, 503, 200]


def test_times_counts_anew_for_every_server() -> None:
    """Each server counts `times` from the start."""
    server = serve_faulty({"name": "unavailable", "times": 1})
    with server:
        post(server)
    with serve_faulty({"name": "unavailable", "times": 1}) as another:
        assert post(another).status_code == 503


def test_several_faults_strike_one_after_another() -> None:
    """Of several faults the first that is not used up strikes."""
    faults = [{"name": "unavailable", "times": 1}, {"name": "rate-limited", "times": 1}]
    with serve_faulty(faults) as server:
        assert [post(server).status_code for _ in range(3)] == [503, 429, 200]


def test_a_fault_of_a_reply_leaves_other_replies_alone() -> None:
    """A fault of one reply does not strike another."""
    with serve([{"when": {"input": "bad"}, "fault": "unavailable"}, {"text": "fine"}]) as server:
        assert [post(server, message).status_code for message in ("bad", "good")] == [503, 200]


def test_a_fault_of_the_script_strikes_every_post() -> None:
    """A fault of the whole script strikes every turn, but neither /health nor a transcript."""
    with serve({"fault": "unavailable", "replies": [{"text": "hi"}]}) as server:
        assert [post(server, message).status_code for message in ("one", "two")] == [503, 503]
        assert send(server, "GET", "/health").status_code == 200
        assert send(server, "GET", "/chat/s").status_code == 200


def test_a_turn_answered_by_a_status_fault_never_ran() -> None:
    """A turn that a fault answered is not counted and not in the transcript."""
    with serve_faulty({"name": "unavailable", "times": 1}, when={"turn": 1}) as server:
        assert [post(server).status_code for _ in range(2)] == [503, 200]
        assert len(transcript(server)["messages"]) == 2


def test_a_turn_whose_stream_was_cut_ran_to_its_end() -> None:
    """A turn whose stream was cut is whole in the transcript."""
    with serve([{"when": {"turn": 1}, "text": "lost", "fault": "cut"}, {"text": "second"}]) as server:
        with raw_turn(server, "one") as connection:
            read_to_end(connection)
        ask(server, "two")
        assert [message["content"] for message in transcript(server)["messages"]] == ["one", "lost", "two", "second"]


PAUSING = {"steps": [{"tools": [{"name": "refund", "approval": True}]}, {"text": "refunded"}]}


def test_a_fault_can_wait_for_the_decision() -> None:
    """A fault with `request: approval` strikes the decision and not the turn."""
    fault = {"name": "unavailable", "request": "approval", "times": 1}
    with serve([{**PAUSING, "fault": fault}]) as server:
        asked = ask(server)
        path = f"/chat/s/approvals/{one(asked, 'approval.requested')['approvalId']}"
        assert send(server, "POST", path, json={"approved": True}).status_code == 503
        assert one(decide(server, asked, {"approved": True}), "run.done")["text"] == "refunded"


def test_a_fault_can_spare_the_decision() -> None:
    """A fault with `request: chat` strikes the turn and not the decision."""
    fault = {"name": "cut", "after": 99, "request": "chat"}
    with serve([{**PAUSING, "fault": fault}]) as server:
        with raw_turn(server) as connection:
            asked = events_in(re.sub(rb"\r\n[0-9a-f]*\r\n", b"\n", read_to_end(connection)).decode())
        assert one(decide(server, asked, {"approved": True}), "run.done")["text"] == "refunded"
