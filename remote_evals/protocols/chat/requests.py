"""The requests of the `/chat` protocol, and what to try when one is refused."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ...core.prompts import Prompt
from ...errors import MalformedStreamError
from ..base import Request
from .refusals import NOT_WAITED_FOR

HEALTH = Request("GET", "/health", accept="*/*")

MAX_ID_CHARS = 1024

_ADVICE = {
    400: "The deployment did not understand the request: check that it speaks the /chat protocol",
    404: "Check the URL: the agent may be mounted below a path",
    405: "This URL takes no POST: it may be that of something else",
    409: "Another request came first: check that nothing else uses this session",
    501: "This URL takes no POST: it may be that of something else",
}


class ChatRequests:
    """The requests of one session, whose id has 1 to 128 characters of `A-Z a-z 0-9 _ -`."""

    def __init__(self, session_id: str) -> None:
        self._id = session_id

    def send(self, prompt: Prompt) -> Request:
        """Return the request that starts a turn."""
        return Request("POST", "/chat", {"sessionId": self._id, "input": prompt})

    def decide(self, approval_id: str, decision: Mapping[str, Any]) -> Request:
        """Return the request that decides an approval. Raises `MalformedStreamError` if its id fits into no path."""
        return Request("POST", f"/chat/{self._id}/approvals/{_quote_segment(approval_id)}", decision)

    def transcript(self) -> Request:
        """Return the request for the session's messages."""
        return Request("GET", f"/chat/{self._id}", accept="application/json")

    def read_transcript(self, body: bytes) -> list[dict[str, Any]]:
        """Return the `messages` of the answer. Raises `MalformedStreamError` if it has no list of objects there."""
        try:
            messages = json.loads(body)["messages"]
        except (ValueError, LookupError, TypeError, RecursionError):
            messages = None
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            happened = "the transcript is not a JSON object with a list of messages"
            raise MalformedStreamError(happened, "Check that the deployment speaks the /chat protocol")
        return messages


def advise(status: int, url: str) -> str | None:
    """Return what to try after a status from a URL, or None if only HTTP's own meaning helps."""
    if url.endswith("/health"):
        return _advise_on_health(status, url)
    if status == 404 and "/approvals/" in url:
        return NOT_WAITED_FOR
    if url.endswith("/chat/chat"):
        return "Leave /chat off the URL: it is added"
    return _ADVICE.get(status)


def _advise_on_health(status: int, url: str) -> str | None:
    added = next((path for path in ("/chat", "/health") if url.endswith(f"{path}/health")), None)
    return f"Leave {added} off the URL: it is added" if status == 404 and added else None


def _quote_segment(approval_id: str) -> str:
    """Return an id as it stands in a path. One that would lead elsewhere or nowhere is malformed."""
    try:
        if approval_id in ("", ".", "..") or len(approval_id) > MAX_ID_CHARS:
            raise ValueError
        return quote(approval_id, safe="")
    except ValueError:
        happened = f"the approval's id {approval_id[:40]!r} cannot be sent back"
        raise MalformedStreamError(happened, "Check what the deployment gives as approvalId") from None
