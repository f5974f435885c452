"""The events of a run: on a timeline while the script is played, then as the bytes of an event stream."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from fake_server.script import Failure

Event = dict[str, Any]

DONE_FRAME = b"event: done\ndata: {}\n\n"


@dataclass(frozen=True)
class TimedEvent:
    """An event and its time, in seconds after the run began."""

    at_s: float
    event: Event


@dataclass
class Timeline:
    """The events of one agent, in order; `tag` is the `subagent` field of its events if it is a sub-agent."""

    now_s: float = 0.0
    tag: Event | None = None
    events: list[TimedEvent] = field(default_factory=list)

    def add(self, event_type: str, /, **fields: object) -> None:
        """Emit an event now."""
        subagent = {} if self.tag is None else {"subagent": self.tag}
        self.events.append(TimedEvent(self.now_s, {"type": event_type, **fields, **subagent}))

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds

    def branch(self, tag: Event | None = None) -> "Timeline":
        """Return a timeline that starts now, for the sub-agent of `tag`, by default for the same agent."""
        return Timeline(self.now_s, tag or self.tag)

    def join(self, branches: Sequence["Timeline"]) -> None:
        """Add the events of parallel `branches`; events of the same time alternate, in branch order."""
        numbered = [(timed.at_s, number, timed) for one in branches for number, timed in enumerate(one.events)]
        self.events.extend(timed for *_, timed in sorted(numbered, key=lambda entry: entry[:2]))
        self.now_s = max((one.now_s for one in branches), default=self.now_s)


class Stamp:
    """Puts the id of one run, the sequence number and the time on the events of that run."""

    def __init__(self) -> None:
        self.run_id = str(uuid4())
        self._seq = 0

    def __call__(self, event: Event) -> Event:
        """Return `event` as the next one of the run."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        stamped = {**event, "runId": self.run_id, "seq": self._seq, "timestamp": now, "v": 1}
        self._seq += 1
        return stamped


def to_frame(event: Event) -> bytes:
    """Return the event-stream frame that carries `event`."""
    return b"data: " + to_json(event) + b"\n\n"


def to_json(value: object) -> bytes:
    """Return `value` as compact JSON in UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # a lone surrogate has no UTF-8, so it is sent as its \\uXXXX escape
    return text.encode("utf-8", "backslashreplace")


def make_error_fields(failure: Failure) -> Event:
    """Return `failure` as the `error` of an event."""
    return without_none({"name": failure.name, "message": failure.message, "code": failure.code})


def without_none(fields: Event) -> Event:
    """Return the `fields` that have a value."""
    return {key: value for key, value in fields.items() if value is not None}
