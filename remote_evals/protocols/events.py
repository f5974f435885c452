"""The events of the `/chat` protocol, version 1, as they arrive on the wire.

`parse_event` is tolerant on purpose: the protocol allows new types and new fields without a new version, so an unknown
type becomes an `UnknownEvent`, an unknown field is dropped, and a field of the wrong shape is as good as absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Frame = Mapping[str, Any]


@dataclass(slots=True)
class Subagent:
    """Which sub-agent an event is of: names and starting call ids from the outermost to itself.

    A call id alone does not tell agents apart: the lead's first call and a sub-agent's can both be `call_1`.
    """

    path: tuple[str, ...]
    call_ids: tuple[str, ...]


@dataclass(slots=True)
class Event:
    """What every event has: `subagent` is None for the lead agent, `frame` is all of it as it came."""

    type: str
    subagent: Subagent | None = None
    frame: Frame = field(default_factory=dict, compare=False, repr=False)


@dataclass(slots=True)
class RunStart(Event):
    """A run began. Absent when it failed before it could."""

    run_id: str | None = None


@dataclass(slots=True)
class StepStart(Event):
    """A step, one call of the model, began."""


@dataclass(slots=True)
class StepDone(Event):
    """A step ended."""


@dataclass(slots=True)
class TextDelta(Event):
    """A piece of the reply."""

    text: str = ""


@dataclass(slots=True)
class TextDone(Event):
    """A block of the reply, whole."""

    text: str = ""


@dataclass(slots=True)
class ToolStart(Event):
    """A tool was called; `resumed` marks a paused call going on, which is not a second call."""

    call_id: str = ""
    name: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    resumed: bool = False


@dataclass(slots=True)
class ToolEnd(Event):
    """A tool returned `result`, or raised `error`, the wire's `{name, message}`."""

    call_id: str = ""
    name: str = ""
    result: Any = None
    error: Frame | None = None
    duration_ms: float | None = None


@dataclass(slots=True)
class ApprovalRequested(Event):
    """The run pauses until somebody approves a call, or answers `question`."""

    approval_id: str = ""
    call_id: str = ""
    name: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    question: dict[str, Any] | None = None


@dataclass(slots=True)
class RunFailed(Event):
    """The run failed: the wire's `error` event, `{name, message, code?}`. `run.done` follows."""

    error: Frame = field(default_factory=dict)


@dataclass(slots=True)
class RunDone(Event):
    """The end of the run. `text` None and an empty `finish_reason` mean that the event carried none."""

    finish_reason: str = ""
    text: str | None = None
    usage: Frame | None = None
    object: Any = None
    run_id: str | None = None


@dataclass(slots=True)
class StreamEnd(Event):
    """The frame `event: done` that follows `run.done`: nothing comes behind it."""


@dataclass(slots=True)
class UnknownEvent(Event):
    """An event that says nothing a run is rebuilt from, or one that a newer server added."""
