"""What the server is asked: the requests recorded for tests to count and inspect, and how a body is read."""

import json
import threading
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope

from fake_server import answers


@dataclass(frozen=True)
class RecordedRequest:
    """A request: header names in lower case; the body parsed if it is JSON, else as text, None if empty."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class RequestLog:
    """The requests so far, in the order in which their bodies were complete; usable from any thread."""

    def __init__(self) -> None:
        self._requests: list[RecordedRequest] = []
        self._changed = threading.Condition()

    def add(self, scope: Scope, body: bytes) -> None:
        """Record a request."""
        headers = dict(Headers(scope=scope))
        with self._changed:
            self._requests.append(RecordedRequest(scope["method"], scope["path"], headers, _parse_recorded(body)))
            self._changed.notify_all()

    def all(self) -> list[RecordedRequest]:
        """Return a copy of the list."""
        with self._changed:
            return list(self._requests)

    def wait_for(self, count: int, timeout_s: float) -> list[RecordedRequest]:
        """Return the requests once there are `count`, or raise `TimeoutError`."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= count, timeout_s):
                raise TimeoutError(f"{len(self._requests)} of {count} requests came within {timeout_s} s")
            return list(self._requests)


def _parse_recorded(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8")) if body else None
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


async def read_body(receive: Receive) -> bytes | None:
    """Return the body of a request, or None if the client left before its end."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


def parse_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in a body, or an empty one for other JSON; raise `Refusal` for anything else."""
    if len(request.state.body) > answers.BODY_LIMIT:
        raise answers.Refusal(answers.too_large())
    try:
        parsed = json.loads(request.state.body.decode("utf-8") or "{}")
    except (ValueError, RecursionError) as error:
        raise answers.Refusal(answers.make_error(400, _explain_json_error(error))) from error
    return parsed if isinstance(parsed, dict) else {}


def _explain_json_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError) and error.pos >= len(error.doc.rstrip()):
        return "Unexpected end of JSON input"
    return f"Request body is not valid JSON: {error}"


def get_text(message: str | list[Any]) -> str:
    """Return the text of a message, which is a string or a list of content parts."""
    if isinstance(message, str):
        return message
    parts = (part.get("text") for part in message if isinstance(part, dict))
    return "\n".join(part for part in parts if isinstance(part, str))
