"""Who looks on while a turn is read."""

from typing import Protocol

import httpx


class Tap(Protocol):
    """Is shown every answer to the POSTs of a session as it comes; moments are milliseconds after the POST was sent."""

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        """Take an answer whose headers are there and whose body is still to come; it must not be read."""
        ...

    def on_chunk(self, chunk: bytes, at_ms: float) -> None:
        """Take the next bytes of the answer's body, its content-encoding undone."""
        ...
