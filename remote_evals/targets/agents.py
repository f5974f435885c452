"""The kinds of agent that run in this process: each is asked through one function, and its answer becomes a run."""

import inspect
import time
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ..core.prompts import Prompt
from ..core.threads import run_in_thread
from ..errors import UsageError, describe_error
from ..protocols.chat import CHAT
from ..protocols.chat.parsing import parse_event, parse_usage
from ..protocols.run_builder import RunBuilder
from ..results import Missing, RunError, RunResult, ToolCall, Usage

_NOTHING_REPORTED: tuple[Missing, ...] = ("usage", "steps", "cost")

# Why agents in the style of the tulip-agents package stop, as finish reasons.
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent answered to a prompt; `is_timed` says that its timing was measured while it streamed."""

    result: RunResult
    is_timed: bool = False


Ask = Callable[[Prompt, str, int], Awaitable[Answer]]


def make_ask(agent: Any) -> Ask:
    """Return a function `(prompt, session id, turn)` that asks an agent. Raises `UsageError` for what is no agent."""
    for method in ("arun", "run_sync"):
        if callable(getattr(agent, method, None)):
            return _ask_for_result(getattr(agent, method))
    if inspect.isasyncgenfunction(agent) or inspect.isasyncgenfunction(_get_call_method(agent)):
        return _ask_for_events(agent)
    if callable(agent):
        return _ask_for_result(agent)
    raise UsageError(
        f"a {type(agent).__name__} is no agent: give a callable (prompt) or (prompt, session), an async generator of "
        "events, an object with arun or run_sync, an ASGI app, or a factory of one of them"
    )


def is_factory(agent: Any) -> bool:
    """Return whether calling it without arguments gives an agent, as with a class or a function without parameters."""
    if not callable(agent) or (hasattr(agent, "arun") and not inspect.isclass(agent)):
        return False
    parameters = _parameters(agent)
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return not required and (inspect.isclass(agent) or not (parameters or takes_any))


def is_asgi_app(agent: Any) -> bool:
    """Return whether an agent is called with `scope, receive, send`, as https://asgi.readthedocs.io defines."""
    positional = [p for p in _parameters(agent) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return callable(agent) and len([p for p in positional if p.default is p.empty]) == 3


def _get_call_method(agent: Any) -> Any:
    """Return the method that runs when an object is called."""
    return type(agent).__call__ if callable(agent) else None


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _ask_for_result(function: Callable[..., Any]) -> Ask:
    async def ask(prompt: Prompt, session: str, turn: int) -> Answer:
        args, kwargs = _session_argument(function, session)
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
        given = (
            function(prompt, *args, **kwargs) if is_async else await run_in_thread(function, prompt, *args, **kwargs)
        )
        given = await given if inspect.isawaitable(given) else given
        if isinstance(given, AsyncIterator):
            return await _read_events(given, turn)
        return Answer(read_result(given))

    return ask


def _ask_for_events(function: Callable[..., AsyncIterator[Any]]) -> Ask:
    async def ask(prompt: Prompt, session: str, turn: int) -> Answer:
        args, kwargs = _session_argument(function, session)
        return await _read_events(function(prompt, *args, **kwargs), turn)

    return ask


def _session_argument(function: Callable[..., Any], session: str) -> tuple[list[str], dict[str, str]]:
    """Return the arguments by which a function takes the session's id: by name, as second argument, or not at all."""
    parameters = _parameters(function)
    named = next((p.name for p in parameters if p.name in ("thread_id", "session_id", "session")), None)
    if named:
        return [], {named: session}
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needs_second = len(positional) > 1 and positional[1].default is inspect.Parameter.empty
    return ([session], {}) if needs_second else ([], {})


async def _read_events(events: AsyncIterator[Any], turn: int) -> Answer:
    """Build the run from events of the `/chat` protocol, timed as they come."""
    builder, started = RunBuilder(CHAT.open_order(), turn), time.perf_counter()
    failure: RunError | None = None
    try:
        async with aclosing(events) if isinstance(events, AsyncGenerator) else nullcontext():
            async for event in events:
                if not isinstance(event, Mapping):
                    raise UsageError(f"an agent must yield the events of the wire, as mappings, got {event!r}")
                builder.add(parse_event(event), (time.perf_counter() - started) * 1000)
                if builder.done:
                    break
    except UsageError:
        raise
    except Exception as error:  # the events before the agent broke are kept
        failure = as_run_error(error)
    run = builder.result(total_ms=(time.perf_counter() - started) * 1000)
    return Answer(
        run.model_copy(update={"finish_reason": "error", "error": failure}) if failure else run, is_timed=True
    )


def as_run_error(error: BaseException) -> RunError:
    """Return what an agent raised, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return RunError(name=type(error).__name__, message=describe_error(error).partition(": ")[2] + place)


def read_result(given: Any) -> RunResult:
    """Return the run that an agent returned as text, a `RunResult`, a mapping, or an object with `message`.

    A mapping has the fields of a `RunResult`; `text`, `message` or `output` may name its reply, and `iterations` its
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
    if unknown := fields.keys() - RunResult.model_fields.keys() - RunResult.model_computed_fields.keys():
        valid = ", ".join(sorted({"reply", "tool_calls", "steps", "usage", "finish_reason", "object", *_ALIASES}))
        shown = ", ".join(sorted(map(str, unknown)))
        raise UsageError(f"an agent returned a mapping with unknown keys: {shown}; it may have {valid}")
    given_calls = fields.get("tool_calls", ())
    if not isinstance(given_calls, list | tuple) or not all(isinstance(c, ToolCall | Mapping) for c in given_calls):
        raise UsageError(f"an agent returned a mapping whose tool_calls are not a list of mappings: {given_calls!r}")
    calls = [call if isinstance(call, ToolCall) else {"id": "", "outcome": "ok", **call} for call in given_calls]
    if isinstance(fields.get("usage"), Mapping):
        # It may have the names of the wire or those of `Usage`.
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
