"""What the tests of faults share: a reply that goes wrong, and what it is when nothing does."""

import select
import socket
from typing import Any

from fake_server import FakeServer
from tests.fake_server.wire_client import events_in, serve

TYPES = ["run.start", "step.start", "text.delta", "text.delta", "text.done", "step.done", "run.done"]
LAST_CHUNK = b"0\r\n\r\n"


def faulty(fault: Any, **reply: Any) -> FakeServer:
    """Return a server whose reply `hello there`, the run of `TYPES`, is struck by `fault`."""
    return serve([{"text": "hello there", "fault": fault, **reply}])


def types_in(body: str) -> list[str]:
    """Return the types of the events of a stream."""
    return [event["type"] for event in events_in(body)]


def is_silent(connection: socket.socket) -> bool:
    """Tell whether nothing comes for a moment."""
    return not select.select([connection], [], [], 0.05)[0]
