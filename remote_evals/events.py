"""The events of the `/chat` protocol, version 1, as they arrive on the wire.

`parse_event` is tolerant on purpose: the protocol allows new types and new fields without a new version, so an unknown
type becomes an `UnknownEvent`, an unknown field is dropped, and a field of the wrong shape is as good as absent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .core.json_values import is_number

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


def parse_event(frame: Frame) -> Event:
    """Return the event of one JSON object of the stream; never raises, whatever the fields hold."""
    kind = _text(frame.get("type"))
    parse = _PARSERS.get(kind, UnknownEvent)
    subagent = frame.get("subagent")
    return parse(kind, _parse_subagent(subagent) if isinstance(subagent, dict) else None, frame)


def _parse_subagent(of: Frame) -> Subagent:
    path, call_ids = [_text(of.get("name"))], [_text(of.get("toolCallId"))]
    while isinstance(parent := of.get("parent"), dict):
        of = parent
        path.append(_text(of.get("name")))
        call_ids.append(_text(of.get("toolCallId")))
    return Subagent(tuple(reversed(path)), tuple(reversed(call_ids)))


def _parse_run_start(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    return RunStart(kind, subagent, frame, _text(frame.get("runId")) or None)


def _parse_tool_start(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    resumed = kind == "tool.resume"
    return ToolStart(
        kind, subagent, frame, _text(frame.get("toolCallId")), _text(frame.get("toolName")), _args(frame), resumed
    )


def _parse_tool_end(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    error = _object(frame.get("error")) or {} if kind == "tool.error" else None
    duration = frame.get("durationMs")
    return ToolEnd(
        kind,
        subagent,
        frame,
        call_id=_text(frame.get("toolCallId")),
        name=_text(frame.get("toolName")),
        result=frame.get("result"),
        error=error,
        duration_ms=duration if is_number(duration) else None,
    )


def _parse_approval(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    return ApprovalRequested(
        kind,
        subagent,
        frame,
        approval_id=_text(frame.get("approvalId")),
        call_id=_text(frame.get("toolCallId")),
        name=_text(frame.get("toolName")),
        args=_args(frame),
        question=_object(frame.get("question")),
    )


def _parse_run_done(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    text = frame.get("text")
    return RunDone(
        kind,
        subagent,
        frame,
        finish_reason=_text(frame.get("finishReason")),
        text=text if isinstance(text, str) else None,
        usage=_object(frame.get("usage")),
        object=frame.get("object"),
        run_id=_text(frame.get("runId")) or None,
    )


_PARSERS: dict[str, Callable[[str, Subagent | None, Frame], Event]] = {
    "run.start": _parse_run_start,
    "step.start": StepStart,
    "step.done": StepDone,
    "text.delta": lambda kind, subagent, frame: TextDelta(kind, subagent, frame, _text(frame.get("text"))),
    "text.done": lambda kind, subagent, frame: TextDone(kind, subagent, frame, _text(frame.get("text"))),
    "tool.start": _parse_tool_start,
    "tool.resume": _parse_tool_start,
    "tool.done": _parse_tool_end,
    "tool.error": _parse_tool_end,
    "approval.requested": _parse_approval,
    "error": lambda kind, subagent, frame: RunFailed(kind, subagent, frame, _object(frame.get("error")) or {}),
    "run.done": _parse_run_done,
}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _args(frame: Frame) -> dict[str, Any]:
    return _object(frame.get("args")) or {}
