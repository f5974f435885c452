"""What the server was asked: every request, recorded for tests to count and inspect."""

import json
import threading
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Receive, Scope


@dataclass(frozen=True)
class RecordedRequest:
    """A request: header names in lower case, the body parsed when it is JSON, else as text, None when empty."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class RequestLog:
    """The requests so far, in the order in which their bodies were complete."""

    def __init__(self) -> None:
        self._requests: list[RecordedRequest] = []
        self._changed = threading.Condition()

    def add(self, scope: Scope, body: bytes) -> None:
        """Record a request."""
        headers = dict(Headers(scope=scope))
        with self._changed:
            self._requests.append(RecordedRequest(scope["method"], scope["path"], headers, _parsed(body)))
            self._changed.notify_all()

    def all(self) -> list[RecordedRequest]:
        """Return a copy of the list."""
        with self._changed:
            return list(self._requests)

    def wait_for(self, count: int, timeout_s: float) -> list[RecordedRequest]:
        """Return the requests once there are `count` of them; raise `TimeoutError` when there are not in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= count, timeout_s):
                raise TimeoutError(f"{len(self._requests)} of {count} requests came within {timeout_s} s")
            return list(self._requests)


async def read_body(receive: Receive) -> bytes | None:
    """Return the body of a request, or None when the client left before its end."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8")) if body else None
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
