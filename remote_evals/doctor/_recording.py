"""Looks on while a turn is read, and keeps what a check-up asks for: no text of the agent's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from ..protocols.events import Event, StreamEnd


@dataclass(frozen=True, slots=True)
class Arrival:
    """When an event came, and when the agent says that it was produced: milliseconds on clocks of their own."""

    at_ms: float
    produced_ms: float | None


@dataclass(slots=True)
class Recording:
    """The answer to one POST, headers scrubbed; moments are milliseconds after the POST was sent.

    `http_version` is as "1.1", None where the connection does not say.
    """

    status: int
    content_type: str
    content_encoding: str
    http_version: str | None
    arrivals: list[Arrival] = field(default_factory=list)
    keep_alives_ms: list[float] = field(default_factory=list)


class Recorder:
    """Records the answers to all POSTs of a session, in order; see `targets._tap.Tap`."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self.recordings: list[Recording] = []
        self._scrub = scrub

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        """Begin a recording."""
        headers = response.headers
        recording = Recording(
            response.status_code,
            self._scrub(headers.get("content-type", "")),
            self._scrub(headers.get("content-encoding", "")),
            _read_version(response),
        )
        self.recordings.append(recording)

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        """Note when the events came, and the comments that are new."""
        recording = self.recordings[-1]
        recording.keep_alives_ms += [at_ms] * (comments - len(recording.keep_alives_ms))
        for event in events:
            if not isinstance(event, StreamEnd):
                recording.arrivals.append(Arrival(at_ms, _read_moment(event.frame.get("timestamp"))))


def _read_version(response: httpx.Response) -> str | None:
    # httpx-aiohttp says HTTP/1.1 of whatever came; the answer below it knows.
    below: Any = getattr(response.stream, "_aiohttp_response", None)
    version = getattr(below, "version", None)
    return f"{version.major}.{version.minor}" if version else None


def _read_moment(timestamp: object) -> float | None:
    """Return an ISO 8601 moment as milliseconds since 1970, None for what is none."""
    try:
        moment = datetime.fromisoformat(timestamp) if isinstance(timestamp, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
