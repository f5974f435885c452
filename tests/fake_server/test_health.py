"""`GET /health` as the script says: a deployment that gets ready, hangs, breaks, or is replaced by a new build."""

import socket
from contextlib import closing
from typing import Any

import httpx
import pytest

from fake_server import FakeServer
from tests.fake_server.wire_client import ask, one, read_to_end, send, serve


def healthy(health: Any, **script: Any) -> FakeServer:
    """Return a server with this `health` key."""
    return serve({"health": health, "replies": [{"text": "hi"}], **script})


def check(server: FakeServer) -> httpx.Response:
    """Return the answer to one health check."""
    return send(server, "GET", "/health")


def raw_check(server: FakeServer) -> socket.socket:
    """Return a socket on which a health check was sent."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    return connection


def test_headers_are_sent_with_the_ok() -> None:
    """The headers of the script are sent with the plain `ok`."""
    with healthy({"headers": {"X-Version": "1.4.2"}}) as server:
        answer = check(server)
    assert (answer.status_code, answer.text, answer.headers["x-version"]) == (200, "ok", "1.4.2")
    assert (answer.headers["content-type"], answer.headers["content-length"]) == ("text/plain", "2")


def test_a_deployment_can_become_ready() -> None:
    """A fault with `times` strikes that often, without the headers of the script, and then the answer is `ok`."""
    fault = {"name": "unavailable", "times": 2, "retry_after": 1}
    with healthy({"headers": {"X-Version": "1.4.2"}, "fault": fault}) as server:
        answers = [check(server) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [503, 503, 200, 200]
    assert [answer.headers.get("x-version") for answer in answers] == [None, None, "1.4.2", "1.4.2"]
    assert answers[0].headers["retry-after"] == "1"


def test_a_new_build_can_take_over() -> None:
    """Of several answers the first that is not used up is given."""
    health = [{"times": 2, "headers": {"X-Version": "1"}}, {"fault": "unavailable", "times": 1}]
    with healthy([*health, {"headers": {"X-Version": "2"}}]) as server:
        answers = [check(server) for _ in range(5)]
    assert [answer.headers.get("x-version") for answer in answers] == ["1", "1", None, "2", "2"]


@pytest.mark.parametrize("health", [None, [], [{"times": 1, "headers": {"X-Version": "1"}}]])
def test_nothing_left_to_say_is_a_plain_ok(health: Any) -> None:
    """Without an answer, or when all are used up, the answer is a plain `ok`."""
    with healthy(health) as server:
        check(server)
        answer = check(server)
    assert (answer.status_code, answer.text, "x-version" in answer.headers) == (200, "ok", False)


def test_answers_that_are_equal_wear_out_one_by_one() -> None:
    """Two equal answers are used for twice as many requests."""
    old = {"times": 1, "headers": {"X-Version": "1"}}
    with healthy([old, old, {"headers": {"X-Version": "2"}}]) as server:
        assert [check(server).headers["x-version"] for _ in range(3)] == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("fault", "status", "content_type"),
    [
        ("unauthorized", 401, "application/json"),
        ("server-error", 500, "application/json"),
        ("html", 200, "text/html"),
        ({"name": "status", "status": 404, "body": "no"}, 404, "text/plain"),
        ({"name": "wrong-content-type", "content_type": "text/x"}, 200, "text/x"),
    ],
)
def test_an_answer_can_be_another(fault: Any, status: int, content_type: str) -> None:
    """Faults of answers and of bodies work for a health check."""
    with healthy({"fault": fault}) as server:
        answer = check(server)
    assert (answer.status_code, answer.headers["content-type"]) == (status, content_type)


def test_a_health_check_can_be_sent_elsewhere() -> None:
    """A redirect has its location."""
    with healthy({"fault": {"name": "redirect", "location": "/up"}}) as server:
        answer = check(server)
    assert (answer.status_code, answer.headers["location"]) == (302, "/up")


def test_a_health_check_can_hang_for_a_while() -> None:
    """`no-headers` with `for` answers with the `ok` after that time."""
    with healthy({"fault": {"name": "no-headers", "for": "30ms"}, "headers": {"X-Version": "1"}}) as server:
        answer = check(server)
    assert (answer.text, answer.headers["x-version"]) == ("ok", "1")


@pytest.mark.parametrize(("after", "body"), [(0, b""), (1, b"1\r\no\r\n")])
def test_the_connection_can_be_cut_in_the_middle_of_the_ok(after: int, body: bytes) -> None:
    """`after` counts the halves of the answer."""
    fault = {"name": "cut", "after": after}
    with healthy({"fault": fault}) as server, closing(raw_check(server)) as connection:
        got = read_to_end(connection)
    assert got.startswith(b"HTTP/1.1 200 OK")
    assert got.partition(b"\r\n\r\n")[2] == body


def test_the_connection_can_be_reset() -> None:
    """A reset before the headers leaves no answer at all."""
    fault = {"name": "reset", "before_headers": True}
    with (
        healthy({"fault": fault}) as server,
        closing(raw_check(server)) as connection,
        pytest.raises(ConnectionResetError),
    ):
        connection.recv(65536)


def test_health_and_turns_fail_apart() -> None:
    """A fault of the health check does not strike turns, and a fault of turns does not strike the health check."""
    with healthy({"fault": "unavailable"}) as server:
        assert one(ask(server), "run.done")["text"] == "hi"
    with healthy([], fault="unavailable") as server:
        assert check(server).text == "ok"


def test_health_needs_no_token_below_its_path_and_is_recorded() -> None:
    """A health check below `base_path` needs no token, and is recorded."""
    with healthy({"headers": {"X-Version": "1"}}, token="secret", base_path="/api/agent") as server:
        answer = httpx.get(f"{server.url}/health", headers={"x-probe": "7"})
        [request] = server.requests
    assert answer.headers["x-version"] == "1"
    assert (request.method, request.path, request.body) == ("GET", "/api/agent/health", None)
    assert (request.headers["x-probe"], "authorization" in request.headers) == ("7", False)
