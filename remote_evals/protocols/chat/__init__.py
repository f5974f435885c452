"""The `/chat` protocol, version 1: the default of every target.

In: a session's prompts and decisions; the event stream that answers each.
Out: `POST /chat` requests; the events of a run, with warnings about what is odd in their order.
"""

from collections.abc import Callable

from ...errors import Refusal
from ..events import Event
from ..json_events import JsonEventReader
from .ordering import StreamOrderChecker
from .parsing import parse_frame, read_timestamp
from .refusals import read_refusal
from .requests import HEALTH, ChatRequests, advise


class ChatProtocol:
    """The `/chat` protocol; see `base.Protocol`."""

    title = "the /chat protocol"
    end_event = "run.done"
    closing_frame = "`event: done`"
    health = HEALTH

    def open_session(self, session_id: str) -> ChatRequests:
        """Return what makes the requests of a new session."""
        return ChatRequests(session_id)

    def open_reader(self, scrub: Callable[[str], str], max_frame_bytes: int) -> JsonEventReader:
        """Return a reader for one answer."""
        return JsonEventReader(parse_frame, scrub, max_frame_bytes)

    def open_order(self, scrub: Callable[[str], str] = str) -> StreamOrderChecker:
        """Return what checks the order of one turn's events."""
        return StreamOrderChecker(scrub)

    def advise(self, status: int, url: str) -> str | None:
        """Return what to try after this status from this URL, or None if the protocol knows no better than HTTP."""
        return advise(status, url)

    def read_refusal(self, body: str) -> Refusal:
        """Return what the body of a refused request says."""
        return read_refusal(body)

    def read_timestamp(self, event: Event) -> float | None:
        """Return when the agent produced an event, in milliseconds since 1970, or None if it does not say."""
        return read_timestamp(event)


CHAT = ChatProtocol()

__all__ = ["CHAT", "ChatProtocol"]
