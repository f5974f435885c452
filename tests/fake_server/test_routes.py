"""Every route answers as the reference server does before a stream starts."""

from typing import Any

import httpx
import pytest

from tests.fake_server.wire_client import ask, events_in, one, post, send, serve, transcript

BAD_TURN = {"error": "Request body must be JSON with 'sessionId' and 'input' strings (or the deprecated 'message')"}
BAD_DECISION = {"error": "Request body must be JSON with 'approved' (and optional 'note') or 'answer'"}
HI = [{"text": "hi"}]
GUARDED = {"token": "secret", "replies": HI}


def test_health_is_plain_ok() -> None:
    """/health answers with a plain `ok`."""
    with serve(HI) as server:
        answer = send(server, "GET", "/health")
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (200, "text/plain", "ok")


def test_health_needs_no_token() -> None:
    """/health answers without the token."""
    with serve(GUARDED) as server:
        assert httpx.get(f"{server.url}/health").text == "ok"


@pytest.mark.parametrize("authorization", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic secret"}])
@pytest.mark.parametrize("path", ["/chat", "/chat/s", "/elsewhere"])
def test_anything_else_without_the_token_is_unauthorized(authorization: dict[str, str], path: str) -> None:
    """Any other path answers with 401 unless the request has the token."""
    with serve(GUARDED) as server:
        answer = httpx.get(f"{server.url}{path}", headers=authorization)
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["cache-control"] == "no-store"


def test_the_token_opens_the_chat() -> None:
    """A request with the token gets its turn."""
    with serve(GUARDED) as server:
        assert one(ask(server), "run.done")["text"] == "hi"


def test_a_stream_is_an_event_stream_in_chunks() -> None:
    """A stream is sent as an uncached event stream in chunks."""
    with serve(HI) as server:
        headers = post(server).headers
    assert headers["content-type"] == "text/event-stream"
    assert headers["cache-control"] == "no-cache"
    assert headers["transfer-encoding"] == "chunked"


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("PUT", "/chat"), ("GET", "/chat"), ("POST", "/chat/")])
def test_any_other_request_is_not_found(method: str, path: str) -> None:
    """An unknown path or method is answered with a plain 404."""
    with serve(HI) as server:
        answer = send(server, method, path)
    assert (answer.status_code, answer.headers["content-type"], answer.text) == (404, "text/plain", "not found")


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"null", b"[1]", b'{"input": "hi"}', b'{"sessionId": "s"}', b'{"sessionId": "s", "input": ""}']
)
def test_a_turn_without_session_or_input_is_refused(body: bytes) -> None:
    """A turn whose session or input is missing or empty is answered with 400."""
    with serve(HI) as server:
        answer = send(server, "POST", "/chat", content=body)
    assert (answer.status_code, answer.json()) == (400, BAD_TURN)


def test_json_that_breaks_off_is_refused() -> None:
    """A body that ends inside its JSON is answered with 400, which says so."""
    with serve(HI) as server:
        answer = send(server, "POST", "/chat", content=b'{"sessionId": "s"')
    assert (answer.status_code, answer.json()) == (400, {"error": "Unexpected end of JSON input"})


@pytest.mark.parametrize("body", [b"hello", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_refused(body: bytes) -> None:
    """A body that is not JSON is answered with 400."""
    with serve(HI) as server:
        answer = send(server, "POST", "/chat", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Request body is not valid JSON: ")


@pytest.mark.parametrize("session", ["a b/..", "", "x" * 129, "é", "s\n"])
def test_a_session_id_of_other_characters_is_refused_over_two_lines(session: str) -> None:
    """An invalid session id is answered with 400 and an explanation of two lines."""
    with serve(HI) as server:
        answer = post(server, session=session)
    assert answer.status_code == 400
    first, second = answer.json()["error"].split("\n")
    assert first.startswith("Invalid session id ")
    assert second.startswith("[LOUSHO_SESSION_ID_INVALID]")


def test_the_longest_session_id_is_taken() -> None:
    """A session id may have 128 characters."""
    with serve(HI) as server:
        assert post(server, session="x" * 128).status_code == 200


def test_a_body_over_a_mebibyte_is_too_large() -> None:
    """A body of more than 1 MiB is answered with 413."""
    with serve(HI) as server:
        answer = send(server, "POST", "/chat", content=b" " * (1024 * 1024 + 1))
    assert (answer.status_code, answer.json()) == (413, {"error": "Request body exceeds 1048576 byte limit"})


def test_content_parts_are_an_input() -> None:
    """An input of content parts is matched by its text and kept as it is."""
    parts: list[Any] = [{"type": "text", "text": "where is"}, {"type": "image"}, {"type": "text", "text": "order 41"}]
    with serve([{"when": {"matches": "^where is\norder 41$"}, "text": "found"}]) as server:
        assert one(ask(server, parts), "run.done")["text"] == "found"
        assert transcript(server)["messages"][0] == {"role": "user", "content": parts}


def test_an_unknown_session_has_an_empty_transcript() -> None:
    """The transcript of an unknown session is empty."""
    with serve(HI) as server:
        assert transcript(server, "never") == {"sessionId": "never", "messages": [], "pending": None}


def test_a_transcript_of_a_bad_session_id_is_refused() -> None:
    """A transcript of an invalid session id is answered with 400."""
    with serve(HI) as server:
        assert send(server, "GET", "/chat/a.b").status_code == 400


@pytest.mark.parametrize("body", [b"", b"{}", b'{"approved": "yes"}', b'{"answer": 4}', b'{"note": "no"}'])
def test_a_decision_that_decides_nothing_is_refused(body: bytes) -> None:
    """A decision without a boolean `approved` or a text `answer` is answered with 400."""
    with serve(HI) as server:
        answer = send(server, "POST", "/chat/s/approvals/abc", content=body)
    assert (answer.status_code, answer.json()) == (400, BAD_DECISION)


def test_an_unknown_approval_is_not_found() -> None:
    """A decision on an unknown approval is answered with 404 and its code."""
    with serve(HI) as server:
        answer = send(server, "POST", "/chat/s/approvals/abc", json={"approved": True})
    message = "No pending approval 'abc' (it was decided already, or the agent was reloaded)"
    assert (answer.status_code, answer.json()) == (404, {"error": message, "code": "LOUSHO_APPROVAL_NOT_FOUND"})


def test_the_base_url_can_carry_a_path() -> None:
    """All routes are below `base_path`, and none is beside it."""
    with serve({"base_path": "/api/agent", "token": "secret", "replies": HI}) as server:
        assert server.url.endswith("/api/agent")
        assert httpx.get(f"{server.url}/health").text == "ok"
        assert one(ask(server), "run.done")["text"] == "hi"
        root = server.url.removesuffix("/api/agent")
        answer = httpx.get(f"{root}/chat/s", headers={"authorization": "Bearer secret"})
        assert answer.status_code == 404


def test_an_input_no_reply_matches_fails_the_run_and_says_which_reply_is_missing() -> None:
    """An input without a reply gets a failed run that names the input, and is not in the transcript."""
    with serve([{"when": {"input": "weather"}, "text": "sunny"}]) as server:
        answer = post(server, "refund order 41")
        assert [event["type"] for event in events_in(answer.text)] == ["error", "run.done"]
        failed, done = events_in(answer.text)
        assert failed["error"]["code"] == "FAKE_SERVER_NO_REPLY"
        assert "no reply for input 'refund order 41' in turn 1 of session 's'" in failed["error"]["message"]
        assert (done["finishReason"], done["text"], "usage" in done) == ("error", "", False)
        assert transcript(server)["messages"] == []
