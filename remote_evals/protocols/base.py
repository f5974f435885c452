"""The seam between a deployment's protocol and everything else.

A protocol alone knows its paths, bodies, headers and event names. It says which requests to send and turns the bytes of
their answers into the events of `events`; `targets/` sends, `run_builder` builds the run. To add a protocol, write a
class with the members of `Protocol` in a folder of its own and pass it to `RemoteTarget(url, protocol=…)`.
"""

import json
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.prompts import Prompt
from ..errors import MalformedStreamError, Refusal
from .events import Event

_LONGEST_QUOTE = 60


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a deployment.

    `path` is added to the base URL, `body` is sent as JSON, and `accept` is the media type of the expected answer.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    accept: str = "text/event-stream"

    @property
    def content(self) -> bytes | None:
        """The body as it is sent; ASCII, since a prompt may hold the lone surrogates that UTF-8 cannot encode."""
        return None if self.body is None else json.dumps(self.body).encode("ascii")


class SessionRequests(typing.Protocol):
    """Makes the requests of one session. It may keep what later requests need, such as the conversation so far."""

    def send(self, prompt: Prompt) -> Request:
        """Return the request that starts a turn, by a text or a list of content parts."""
        ...

    def decide(self, approval_id: str, decision: Mapping[str, Any]) -> Request:
        """Return the request that decides what a run waits for; see `targets.base.Session.decide`.

        Raises `MalformedStreamError` for an id that cannot be sent back.
        """
        ...

    def transcript(self) -> Request | None:
        """Return the request for the messages that the deployment keeps, or None if it gives out none."""
        ...

    def read_transcript(self, body: bytes) -> list[dict[str, Any]]:
        """Return the messages of the answer, each `{role, content}`. Raises `MalformedStreamError`."""
        ...


class EventReader(typing.Protocol):
    """Turns the bytes of one answer into events, wherever the bytes are cut."""

    @property
    def problem(self) -> MalformedStreamError | None:
        """What is wrong with the first piece that is no event; nothing behind it is read."""
        ...

    @property
    def comments(self) -> int:
        """How many keep-alive comments came so far."""
        ...

    @property
    def invalid_utf8_at(self) -> int | None:
        """The offset of the first byte that is not UTF-8; U+FFFD replaces what cannot be decoded."""
        ...

    @property
    def unfinished(self) -> bool:
        """Whether the stream ended in the middle of an event; known after `finish`."""
        ...

    def feed(self, chunk: bytes) -> Sequence[Event]:
        """Return the events that are complete with this chunk."""
        ...

    def finish(self) -> None:
        """Take the end of the stream."""
        ...


class StreamOrder:
    """Collects warnings about a run's stream. A protocol that numbers its events overrides `add` and `is_of_the_run`.

    `has_gap` says that events were lost, so a run may have done what it does not show; `is_ambiguous` that two runs
    came in one stream and either may be the one that was asked for. `scrub` removes secrets from what is quoted.
    """

    def __init__(self, scrub: Callable[[str], str] = str) -> None:
        self.has_gap = False
        self.is_ambiguous = False
        self._scrub = scrub
        self._first: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def begin_stream(self) -> None:
        """Prepare for another stream of the same turn."""

    def add(self, event: Event) -> bool:
        """Check the next event and return whether it belongs to the run."""
        return self.is_of_the_run(event)

    def is_of_the_run(self, event: Event) -> bool:
        """Return whether an event is of the run that the stream began with, with a warning if it is not."""
        return True

    def warn(self, kind: str, text: str, *quoted: object) -> None:
        """Add a warning; each `{}` in the text is replaced by what the deployment sent, shortened."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind not in self._first:
            self._first[kind] = text.format(*map(self._quote, quoted)) if quoted else text

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence a kind, without its full stop: the first of the kind, and how many more came."""
        more = {kind: f" (and {count - 1} more)" for kind, count in self._counts.items() if count > 1}
        return tuple(text + more.get(kind, "") for kind, text in self._first.items())

    def _quote(self, value: object) -> str:
        # Scrubbed before it is cut: half a secret is no longer recognised.
        text = self._scrub(value if isinstance(value, str) else repr(value))
        shown = text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
        return repr(shown) if isinstance(value, str) else shown


class Protocol(typing.Protocol):
    """What a deployment speaks. One object serves all sessions of all targets."""

    @property
    def title(self) -> str:
        """Its name in messages: "the /chat protocol"."""
        ...

    @property
    def end_event(self) -> str:
        """The type of the event that ends a run, for messages."""
        ...

    @property
    def closing_frame(self) -> str | None:
        """What follows the end event as the last piece of a stream, for messages; None if nothing does."""
        ...

    @property
    def health(self) -> Request:
        """The request that asks whether the deployment is up. It is sent without the token."""
        ...

    def open_session(self, session_id: str) -> SessionRequests:
        """Return what makes the requests of a new session."""
        ...

    def open_reader(self, scrub: Callable[[str], str], max_frame_bytes: int) -> EventReader:
        """Return a reader for one answer. Its `problem` quotes what `scrub` leaves."""
        ...

    def open_order(self, scrub: Callable[[str], str]) -> StreamOrder:
        """Return what checks the order of one turn's events."""
        ...

    def advise(self, status: int, url: str) -> str | None:
        """Return what to try after this status from this URL, or None if the protocol knows no better than HTTP."""
        ...

    def read_refusal(self, body: str) -> Refusal:
        """Return what the body of a refused request says; an empty `Refusal` if it is none of this protocol's."""
        ...

    def read_timestamp(self, event: Event) -> float | None:
        """Return when the agent produced an event, in milliseconds since 1970, or None if the event does not say."""
        ...
