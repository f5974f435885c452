"""Who looks on while a turn is read."""

from collections.abc import Sequence
from typing import Protocol

import httpx

from ..events import Event


class Tap(Protocol):
    """Is shown every answer to the POSTs of a session as it comes; moments are milliseconds after the POST was sent."""

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        """Take an answer whose headers are there and whose body is still to come; it must not be read."""
        ...

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        """Take the events that are whole with the bytes that came, none perhaps, and how many comments came by now."""
        ...
