"""The server starts at once on a free port, stops at once even if requests hang, and records its requests."""

import asyncio
import socket
import threading
import time

import httpx
import pytest

from fake_server import FakeServer, RecordedRequest, parse_script
from tests.fake_server.wire_client import ask, one, post, raw_turn, read_until, send, serve, transcript

HI = [{"text": "hi"}]


def has_ipv6() -> bool:
    """Return whether this machine has IPv6."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_two_servers_get_two_ports() -> None:
    """Two servers listen on two ports of this machine."""
    with serve(HI) as one_server, serve(HI) as another:
        assert one_server.url != another.url
        assert one_server.url.startswith("http://127.0.0.1:")


def test_the_token_of_the_script_is_known() -> None:
    """The server has the token of its script, or None."""
    assert serve({"token": "secret", "replies": HI}).token == "secret"
    assert serve(HI).token is None


def test_nobody_listens_after_the_block_though_the_url_is_still_known() -> None:
    """After the block the URL is still known, and a connection to it is refused."""
    with serve(HI) as server:
        pass
    with pytest.raises(httpx.ConnectError):
        send(server, "GET", "/health")


def test_a_port_in_use_is_an_os_error_of_the_caller() -> None:
    """A port in use raises `OSError` in the thread that starts the server."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = FakeServer(parse_script("replies: [{text: hi}]"), port=taken.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            server.start()


def test_a_server_that_stopped_starts_again_on_its_port_without_its_sessions() -> None:
    """A restarted server has the same URL and request log, and no sessions."""
    server = serve(HI)
    urls = []
    for _ in range(2):
        with server:
            urls.append(server.url)
            ask(server)
            assert len(transcript(server)["messages"]) == 2
    assert urls[0] == urls[1]
    assert len(server.requests) == 4


def test_another_build_can_take_over_the_port() -> None:
    """Another server can listen on a given port as soon as the server before it has stopped."""
    old = serve(HI)
    assert old.port == 0
    with old:
        ask(old)
    with FakeServer(parse_script("replies: [{text: new}]"), port=old.port) as new:
        assert (new.url, new.port) == (old.url, old.port)
        assert one(ask(old), "run.done")["text"] == "new"


def test_stopping_twice_is_stopping_once() -> None:
    """Stopping a stopped server does nothing."""
    server = serve(HI)
    with server:
        server.stop()
    server.stop()


async def test_an_asynchronous_test_can_use_it() -> None:
    """The server answers clients of the event loop that the test runs in."""
    with serve(HI) as server:
        async with httpx.AsyncClient() as client:
            answers = [client.post(f"{server.url}/chat", json={"sessionId": s, "input": "hi"}) for s in ("a", "b")]
            assert [answer.status_code for answer in await asyncio.gather(*answers)] == [200, 200]


@pytest.mark.parametrize("fault", ["no-headers", "silence", "keep-alives", "endless"])
def test_a_stream_that_hangs_does_not_delay_the_stop(fault: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A server stops within a second while a stream hangs, and leaves no thread and no output."""
    threads = threading.active_count()
    with serve([{"text": "hi", "fault": fault}]) as server, raw_turn(server) as connection:
        server.wait_for_requests(1)
        began_s = time.monotonic()
        server.stop()
        assert connection.recv(65536) is not None
    assert time.monotonic() - began_s < 1
    assert threading.active_count() == threads
    assert capfd.readouterr() == ("", "")


def test_a_turn_that_runs_does_not_delay_the_stop(capfd: pytest.CaptureFixture[str]) -> None:
    """A server stops within a second while one turn runs and another waits for it."""
    with serve([{"text": "a b", "delay": "10m"}]) as server, raw_turn(server) as connection:
        read_until(connection, b"step.start")
        with raw_turn(server, "waits for the first") as _:
            server.wait_for_requests(2)
            began_s = time.monotonic()
            server.stop()
    assert time.monotonic() - began_s < 1
    assert capfd.readouterr() == ("", "")


def test_requests_are_recorded_in_order_with_headers_and_body() -> None:
    """Requests are recorded in order, each with its headers, and its body parsed if it is JSON."""
    with serve({"token": "secret", "replies": HI}) as server:
        post(server, "one")
        send(server, "GET", "/chat/s")
        send(server, "POST", "/chat", content=b"not json")
        recorded = server.requests
    assert [(request.method, request.path) for request in recorded] == [
        ("POST", "/chat"),
        ("GET", "/chat/s"),
        ("POST", "/chat"),
    ]
    assert [request.body for request in recorded] == [{"sessionId": "s", "input": "one"}, None, "not json"]
    assert {request.headers["authorization"] for request in recorded} == {"Bearer secret"}


def test_a_refused_request_is_recorded_too() -> None:
    """A request without the token is recorded too."""
    with serve({"token": "secret", "replies": HI}) as server:
        httpx.post(f"{server.url}/chat", json={"a": 1})
        [request] = server.requests
    assert isinstance(request, RecordedRequest)
    assert request.body == {"a": 1}


def test_waiting_for_requests_returns_them_or_gives_up() -> None:
    """`wait_for_requests` returns the requests, or raises `TimeoutError` that says how many came."""
    with serve(HI) as server:
        ask(server)
        assert len(server.wait_for_requests(1)) == 1
        with pytest.raises(TimeoutError, match=r"1 of 2 requests came within 0\.01 s"):
            server.wait_for_requests(2, timeout_s=0.01)


def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_trouble(capfd: pytest.CaptureFixture[str]) -> None:
    """A client that leaves in the middle of its request is not recorded and logs nothing."""
    with serve(HI) as server:
        address = httpx.URL(server.url)
        with socket.create_connection((address.host, address.port or 0)) as connection:
            connection.sendall(b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
        assert one(ask(server), "run.done")["text"] == "hi"
        assert len(server.requests) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not has_ipv6(), reason="there is no IPv6 here")
def test_it_listens_where_it_is_told() -> None:
    """A server can listen on an IPv6 address."""
    with FakeServer(parse_script("replies: [{text: hi}]"), host="::1") as server:
        assert server.url.startswith("http://[::1]:")
        assert send(server, "GET", "/health").text == "ok"
