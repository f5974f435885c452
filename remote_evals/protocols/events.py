"""The events that runs are built from, whatever protocol they came in.

A protocol's parser is tolerant: an event type that it does not know becomes an `UnknownEvent`, and a field of the wrong
shape counts as absent, since servers add both without a new version.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..results import RunError, SignIn, Usage

Frame = Mapping[str, Any]


@dataclass(slots=True)
class Subagent:
    """The sub-agent an event belongs to: names and starting call ids, from the outermost to itself.

    A call id alone does not tell agents apart: the lead's first call and a sub-agent's can both be `call_1`.
    """

    path: tuple[str, ...]
    call_ids: tuple[str, ...]


@dataclass(slots=True)
class Event:
    """What every event has: its `type`, its `subagent` (None for the lead agent), and `frame`, all of it as sent."""

    type: str
    subagent: Subagent | None = None
    frame: Frame = field(default_factory=dict, compare=False, repr=False)


@dataclass(slots=True)
class RunStart(Event):
    """A run began. Absent when it failed before it could start."""

    run_id: str | None = None


@dataclass(slots=True)
class StepStart(Event):
    """A step, one call of the model, began; `step` is its number, or None if it has none."""

    step: int | None = None


@dataclass(slots=True)
class StepDone(Event):
    """A step ended."""

    step: int | None = None


@dataclass(slots=True)
class TextDelta(Event):
    """A piece of the reply."""

    text: str = ""


@dataclass(slots=True)
class TextDone(Event):
    """A whole block of the reply."""

    text: str = ""


@dataclass(slots=True)
class ToolStart(Event):
    """A tool was called; `resumed` marks a paused call that goes on, which is not a second call."""

    call_id: str = ""
    name: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    resumed: bool = False


@dataclass(slots=True)
class ToolEnd(Event):
    """A tool returned `result`, or raised `error`."""

    call_id: str = ""
    name: str = ""
    result: Any = None
    error: RunError | None = None
    duration_ms: float | None = None


@dataclass(slots=True)
class ApprovalRequested(Event):
    """The run pauses until a call is approved or rejected, `question` is answered, or the user has signed in."""

    approval_id: str = ""
    call_id: str = ""
    name: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    question: dict[str, Any] | None = None
    sign_in: SignIn | None = None
    expires_at: str | None = None


@dataclass(slots=True)
class RunFailed(Event):
    """The run failed, and why. `RunDone` follows."""

    error: RunError = field(default_factory=lambda: RunError(name="Error"))


@dataclass(slots=True)
class RunDone(Event):
    """The end of the run. `text` is None and `finish_reason` empty if the event carried none."""

    finish_reason: str = ""
    text: str | None = None
    usage: Usage | None = None
    object: Any = None
    run_id: str | None = None


@dataclass(slots=True)
class StreamEnd(Event):
    """The last piece of a stream, after `RunDone`: nothing follows it."""


@dataclass(slots=True)
class UnknownEvent(Event):
    """An event that no run is built from, or that a newer server added."""
