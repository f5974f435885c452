"""The events of the `/chat` protocol, version 1, out of their JSON.

`parse_frame` is tolerant on purpose: the protocol allows new types and new fields without a new version, so an unknown
type becomes an `UnknownEvent`, an unknown field is dropped, and a field of the wrong shape counts as absent.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeGuard

from ...core.json_values import is_number
from ...results import RunError, SignIn, Usage
from ..events import (
    ApprovalRequested,
    Event,
    Frame,
    RunDone,
    RunFailed,
    RunStart,
    StepDone,
    StepStart,
    StreamEnd,
    Subagent,
    TextDelta,
    TextDone,
    ToolEnd,
    ToolStart,
    UnknownEvent,
)
from .refusals import find_advice

_ERROR_FIELDS = ("name", "message", "code")


def parse_frame(name: str, frame: Frame) -> Event:
    """Return the event of a frame, by the name that its `event:` line gives and the JSON object of its data."""
    kind = _text(frame.get("type"))
    # Of all names this one alone says what the data does not.
    if name == "done" and not kind and "type" not in frame:
        return StreamEnd(name, None, frame)
    subagent = frame.get("subagent")
    of = _parse_subagent(subagent) if isinstance(subagent, dict) else None
    return _PARSERS.get(kind, UnknownEvent)(kind, of, frame)


def parse_event(frame: Frame) -> Event:
    """Return the event of one JSON object of the stream; never raises, whatever the fields hold."""
    return parse_frame("message", frame)


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
    duration = frame.get("durationMs")
    return ToolEnd(
        kind,
        subagent,
        frame,
        call_id=_text(frame.get("toolCallId")),
        name=_text(frame.get("toolName")),
        result=frame.get("result"),
        error=parse_run_error(_object(frame.get("error")) or {}) if kind == "tool.error" else None,
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
        question=_parse_asked(frame, "question", "question"),
        sign_in=_parse_sign_in(frame),
        expires_at=_text(frame.get("expiresAt")) or None,
    )


def _parse_sign_in(frame: Frame) -> SignIn | None:
    fields = _parse_asked(frame, "sign-in", "signIn")
    return None if fields is None else SignIn(provider=_text(fields.get("provider")), url=_text(fields.get("url")))


def _parse_asked(frame: Frame, kind: str, field: str) -> dict[str, Any] | None:
    """Return what a request of this kind asks for; an empty object if it has the kind alone, None for other kinds."""
    fields = _object(frame.get(field))
    return {} if fields is None and frame.get("kind") == kind else fields


def _parse_run_done(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    text = frame.get("text")
    return RunDone(
        kind,
        subagent,
        frame,
        finish_reason=_text(frame.get("finishReason")),
        text=text if isinstance(text, str) else None,
        usage=parse_usage(_object(frame.get("usage")) or {}),
        object=frame.get("object"),
        run_id=_text(frame.get("runId")) or None,
    )


def _parse_run_failed(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    return RunFailed(kind, subagent, frame, parse_run_error(_object(frame.get("error")) or {}))


_PARSERS: dict[str, Callable[[str, Subagent | None, Frame], Event]] = {
    "run.start": _parse_run_start,
    "step.start": lambda kind, subagent, frame: StepStart(kind, subagent, frame, _step(frame)),
    "step.done": lambda kind, subagent, frame: StepDone(kind, subagent, frame, _step(frame)),
    "text.delta": lambda kind, subagent, frame: TextDelta(kind, subagent, frame, _text(frame.get("text"))),
    "text.done": lambda kind, subagent, frame: TextDone(kind, subagent, frame, _text(frame.get("text"))),
    "tool.start": _parse_tool_start,
    "tool.resume": _parse_tool_start,
    "tool.done": _parse_tool_end,
    "tool.error": _parse_tool_end,
    "approval.requested": _parse_approval,
    "error": _parse_run_failed,
    "run.done": _parse_run_done,
}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _args(frame: Frame) -> dict[str, Any]:
    return _object(frame.get("args")) or {}


def _step(frame: Frame) -> int | None:
    number = frame.get("step")
    return number if isinstance(number, int) else None


def parse_run_error(error: Frame) -> RunError:
    """Return the error of `{name, message, code?}`; what is absent stays empty."""
    name, message, code = (value if isinstance(value, str) else None for value in map(error.get, _ERROR_FIELDS))
    return RunError(name=name or "Error", message=message or "", code=code, advice=find_advice(code))


def parse_usage(usage: Frame) -> Usage | None:
    """Return the usage, or None if it holds no count of tokens; older servers use OpenAI's names for them."""
    inputs = _first_number(usage, "inputTokens", "promptTokens")
    outputs = _first_number(usage, "outputTokens", "completionTokens")
    total = _first_number(usage, "totalTokens")
    if total is None and (inputs is None or outputs is None):
        return None
    cost, calls = usage.get("costUsd"), usage.get("modelCalls")
    return Usage(
        input_tokens=int(inputs or 0),
        output_tokens=int(outputs or 0),
        total_tokens=int((inputs or 0) + (outputs or 0) if total is None else total),
        cost_usd=cost if _is_amount(cost) else None,
        model_calls=int(calls) if _is_amount(calls) else None,
        estimated=usage.get("estimated") is True,
    )


def _first_number(usage: Frame, *names: str) -> float | None:
    return next((usage[name] for name in names if _is_amount(usage.get(name))), None)


def _is_amount(value: object) -> TypeGuard[float]:
    # What no run can have taken is no report of what it took.
    return is_number(value) and 0 <= value < 1e15


def read_timestamp(event: Event) -> float | None:
    """Return when an event was produced, in milliseconds since 1970, or None if it has no ISO 8601 timestamp."""
    text = event.frame.get("timestamp")
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000
