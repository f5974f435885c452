"""What an in-process agent may return, as a `RunResult`."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ..errors import UsageError
from ..results import Missing, RunError, RunResult, ToolCall, Usage
from ..usage import parse_usage

_NOTHING_REPORTED: tuple[Missing, ...] = ("usage", "steps", "cost")

# How agents in the style of the tulip-agents package say why they stopped, in the words of the protocol.
_STOP_REASONS = {
    "complete": "stop",
    "no_tools": "stop",
    "terminal_tool": "stop",
    "confidence_met": "stop",
    "max_iterations": "max-steps",
    "token_budget": "budget-exceeded",
    "cost_budget": "budget-exceeded",
    "time_budget": "budget-exceeded",
    "interrupted": "awaiting-approval",
    "cancelled": "aborted",
}
_ALIASES = {"text": "reply", "message": "reply", "output": "reply", "iterations": "steps"}


def read_result(given: Any) -> RunResult:
    """Return what an agent returned as a run: text, a `RunResult`, a mapping, or an object with `message`.

    A mapping has the fields of a `RunResult`, `text`, `message` or `output` for its reply, and `iterations` for its
    steps. Raises `UsageError` for anything else.
    """
    match given:
        case RunResult():
            return given
        case str():
            return RunResult(reply=given, finish_reason="stop", missing=_NOTHING_REPORTED)
        case Mapping():
            return _read_mapping(given)
        case _ if hasattr(given, "message"):
            return _read_object(given)
    raise UsageError(f"an agent must return text, a RunResult, a mapping or an object with `message`, got {given!r}")


def _read_mapping(given: Mapping[str, Any]) -> RunResult:
    fields = {_ALIASES.get(key, key): value for key, value in given.items()}
    if len(fields) < len(given):
        raise UsageError(f"an agent returned a mapping that names one thing twice: {', '.join(map(str, given))}")
    if unknown := fields.keys() - RunResult.model_fields.keys():
        valid = ", ".join(sorted({"reply", "tool_calls", "steps", "usage", "finish_reason", "object", *_ALIASES}))
        shown = ", ".join(sorted(map(str, unknown)))
        raise UsageError(f"an agent returned a mapping with unknown keys: {shown}; it may have {valid}")
    given_calls = fields.get("tool_calls", ())
    if not isinstance(given_calls, list | tuple) or not all(isinstance(c, ToolCall | Mapping) for c in given_calls):
        raise UsageError(f"an agent returned a mapping whose tool_calls are not a list of mappings: {given_calls!r}")
    calls = [call if isinstance(call, ToolCall) else {"id": "", "outcome": "ok", **call} for call in given_calls]
    if isinstance(fields.get("usage"), Mapping):
        # In the wire's words as well as in those of `Usage`.
        fields["usage"] = parse_usage(fields["usage"]) or fields["usage"]
    try:
        run = RunResult.model_validate({"finish_reason": "stop", **fields, "tool_calls": calls})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"an agent returned a mapping whose {where} is wrong: {first['msg']}") from None
    return run.model_copy(update={"missing": _find_missing(run.usage, "steps" in fields)})


def _read_object(given: Any) -> RunResult:
    """Read a result by the names of its parts: `message`, `iterations`, `tool_executions`, `metrics`, `stop_reason`."""
    metrics = getattr(given, "metrics", None)
    usage = _read_usage(metrics)
    steps = getattr(given, "iterations", getattr(metrics, "iterations", None))
    reason = str(getattr(given, "stop_reason", "complete"))
    return RunResult(
        reply=str(given.message or ""),
        finish_reason=_STOP_REASONS.get(reason, reason),
        tool_calls=tuple(_read_call(one) for one in getattr(given, "tool_executions", ()) or ()),
        steps=steps if isinstance(steps, int) else 0,
        usage=usage,
        missing=_find_missing(usage, isinstance(steps, int)),
    )


def _read_call(execution: Any) -> ToolCall:
    error = getattr(execution, "error", None)
    return ToolCall(
        id=str(getattr(execution, "tool_call_id", "")),
        name=str(getattr(execution, "tool_name", "")),
        args=dict(getattr(execution, "arguments", None) or {}),
        outcome="error" if error else "ok",
        result=getattr(execution, "result", None),
        error=RunError(name="ToolError", message=str(error)) if error else None,
        duration_ms=getattr(execution, "duration_ms", None),
    )


def _read_usage(metrics: Any) -> Usage | None:
    total = getattr(metrics, "total_tokens", None)
    if not isinstance(total, int) or total == 0:
        return None
    return Usage(
        input_tokens=getattr(metrics, "prompt_tokens", 0),
        output_tokens=getattr(metrics, "completion_tokens", 0),
        total_tokens=total,
        cost_usd=getattr(metrics, "cost_usd", None),
    )


def _find_missing(usage: Usage | None, has_steps: bool) -> tuple[Missing, ...]:
    absent: dict[Missing, bool] = {
        "usage": usage is None,
        "steps": not has_steps,
        "cost": usage is None or usage.cost_usd is None,
    }
    return tuple(name for name, is_absent in absent.items() if is_absent)
