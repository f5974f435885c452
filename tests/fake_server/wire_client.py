"""Scripts to serve and a client to ask them with, for the tests of the fake server."""

import json
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from fake_server import FakeServer, parse_script

Event = dict[str, Any]
Script = str | list[dict[str, Any]] | dict[str, Any]

TYPES = ["run.start", "step.start", "text.delta", "text.delta", "text.done", "step.done", "run.done"]
LAST_CHUNK = b"0\r\n\r\n"
STAMPS = ("runId", "timestamp", "v", "agentId", "durationMs", "approvalId")


def serve(script: Script) -> FakeServer:
    """Return a server of a script: as YAML, as data, or as its replies alone."""
    text = (
        script if isinstance(script, str) else json.dumps(script if isinstance(script, dict) else {"replies": script})
    )
    return FakeServer(parse_script(text))


def serve_faulty(fault: Any, **reply: Any) -> FakeServer:
    """Return a server whose only reply, `hello there`, is a run of `TYPES` that `fault` strikes."""
    return serve([{"text": "hello there", "fault": fault, **reply}])


def events_in(body: str) -> list[Event]:
    """Return the events of a stream, without the closing frame."""
    data = [line[6:] for line in body.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in data if line != "{}"]


def types_in(body: str) -> list[str]:
    """Return the types of the events of a stream."""
    return [event["type"] for event in events_in(body)]


def send(server: FakeServer, method: str, path: str, **options: Any) -> httpx.Response:
    """Return the answer to any request, made with the server's token."""
    headers = {"authorization": f"Bearer {server.token}"} if server.token else {}
    # loading certificates takes longer than most tests
    with httpx.Client(verify=False, trust_env=False, headers=headers) as client:  # noqa: S501 - plain HTTP
        return client.request(method, f"{server.url}{path}", **options)


def post(server: FakeServer, message: Any = "hi", session: str = "s") -> httpx.Response:
    """Return the answer to one turn, whatever its status."""
    return send(server, "POST", "/chat", json={"sessionId": session, "input": message})


def ask(server: FakeServer, message: Any = "hi", session: str = "s") -> list[Event]:
    """Return the events of one turn."""
    answer = post(server, message, session)
    assert answer.status_code == 200, answer.text
    return events_in(answer.text)


def run_reply(reply: dict[str, Any], message: Any = "hi") -> list[Event]:
    """Return the events of one turn that this reply answers."""
    with serve([reply]) as server:
        return ask(server, message)


def decide(server: FakeServer, asked: list[Event], body: Event, session: str = "s") -> list[Event]:
    """Return the events of the continuation of a turn that paused with the events `asked`."""
    path = f"/chat/{session}/approvals/{one(asked, 'approval.requested')['approvalId']}"
    answer = send(server, "POST", path, json=body)
    assert answer.status_code == 200, answer.text
    return events_in(answer.text)


def transcript(server: FakeServer, session: str = "s") -> dict[str, Any]:
    """Return the transcript of a session."""
    answer: dict[str, Any] = send(server, "GET", f"/chat/{session}").json()
    return answer


def one(events: list[Event], event_type: str) -> Event:
    """Return the only event of a type."""
    [found] = [event for event in events if event["type"] == event_type]
    return found


def brief(events: list[Event]) -> list[str]:
    """Return the events as short lines: sub-agent, type, and step, call or finish reason."""
    marks = ("step", "toolCallId", "finishReason")
    return [
        " ".join(
            [*([event["subagent"]["name"]] if "subagent" in event else []), event["type"]]
            + [str(event[mark]) for mark in marks if mark in event]
        )
        for event in events
    ]


def unstamped(events: list[Event]) -> list[Event]:
    """Return the events without the fields that differ from run to run."""
    return [{key: value for key, value in event.items() if key not in STAMPS} for event in events]


@contextmanager
def raw_turn(server: FakeServer, message: str = "hi", session: str = "s") -> Iterator[socket.socket]:
    """Open a socket and send the request for one turn on it."""
    body = json.dumps({"sessionId": session, "input": message}).encode()
    head = f"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    address = urlsplit(server.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=5) as connection:
        connection.sendall(head.encode() + body)
        yield connection


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    """Return the bytes up to `mark`, and those that came with it."""
    got = b""
    while mark not in got:
        piece = connection.recv(65536)
        assert piece, f"closed before {mark!r}: {got!r}"
        assert len(got) < 100_000, f"no {mark!r} in {got!r}"
        got += piece
    return got


def read_to_end(connection: socket.socket) -> bytes:
    """Return all bytes up to the end of the connection."""
    got = b""
    while piece := connection.recv(65536):
        got += piece
    return got


def is_silent(connection: socket.socket) -> bool:
    """Return whether nothing arrives for 50 ms."""
    return not select.select([connection], [], [], 0.05)[0]
