"""Assertions on which tools a run called."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from ...core.json_values import Difference, find_differences, render_json
from ...results import AssertionResult, RunResult, ToolCall
from .base import check_absence, make_result, render_call


def called_tool(
    run: RunResult,
    name: str,
    *,
    args: Mapping[str, Any] | None = None,
    times: int | None = None,
    subagent: str | None = None,
    outcome: Literal["ok", "error"] | None = None,
    expected_end: str = "stop",
) -> AssertionResult:
    """Pass when the tool was called; `name` "a|b" is either. `times` counts the calls that match everything else."""
    title = render_call("called_tool", name, args=args, times=times, subagent=subagent, outcome=outcome)
    make = partial(make_result, "tool_called", title, about=name)
    named = select_calls(run.tool_calls, split_alternatives(name), subagent)
    matching = [
        call
        for call in named
        if not find_differences(call.args, args or {}) and (outcome is None or call.outcome == outcome)
    ]
    if times is None:
        return make(bool(matching), _describe_no_match(run, name, named, args, subagent))
    if len(matching) == times:
        return check_absence("tool_called", title, run, expected_end, about=name)
    if matching:
        seen = f"{len(matching)} call(s) matched, expected exactly {times}"
        return make(False, seen, conclusive=len(matching) > times)
    return make(False, _describe_no_match(run, name, named, args, subagent))


def not_called_tool(
    run: RunResult, name: str, *, subagent: str | None = None, expected_end: str = "stop"
) -> AssertionResult:
    """Pass when no agent, or no agent at or under `subagent`, called the tool."""
    title = render_call("not_called_tool", name, subagent=subagent)
    calls = select_calls(run.tool_calls, split_alternatives(name), subagent)
    if calls:
        by = f" by {'/'.join(calls[0].subagent_path)}" if calls[0].subagent_path else ""
        args = render_json(calls[0].args)
        seen = f"it was called {len(calls)} time(s), first{by} with {args}"
        return make_result("tool_not_called", title, False, seen, about=name, conclusive=True)
    return check_absence("tool_not_called", title, run, expected_end, about=name)


def tool_order(
    run: RunResult,
    names: Sequence[str],
    *,
    subagent: str | None = None,
    exact: bool = False,
    expected_end: str = "stop",
) -> AssertionResult:
    """Pass when the tools were called in this order; other calls may come between, unless `exact`."""
    title = render_call("tool_order", list(names), subagent=subagent, exact=exact or None)
    make = partial(make_result, "tool_sequence", title)
    called = [call.name for call in select_calls(run.tool_calls, subagent=subagent)]
    if not exact:
        missing = find_order_break(called, names)
        return make(missing is None, f"{missing!r} was missing or out of order; {_describe_tools(called)}")
    if not is_exact_order(called, names):
        return make(False, _describe_tools(called))
    return check_absence("tool_sequence", title, run, expected_end)


def split_alternatives(name: str) -> list[str]:
    """Return the tool names that "a|b" allows."""
    return [part.strip() for part in name.split("|")]


def select_calls(
    calls: Iterable[ToolCall], names: Collection[str] | None = None, subagent: str | None = None
) -> list[ToolCall]:
    """Return the calls of these tools (of any for None) by `subagent` and those under it (by any agent for None)."""
    return [
        call
        for call in calls
        if (names is None or call.name in names) and (subagent is None or subagent in call.subagent_path)
    ]


def find_order_break(actual: Sequence[str], expected: Sequence[str]) -> str | None:
    """Return the first expected name that does not follow the ones before it, or None if all come in order."""
    remaining = iter(actual)
    return next((name for name in expected if not any(call in split_alternatives(name) for call in remaining)), None)


def is_exact_order(actual: Sequence[str], expected: Sequence[str]) -> bool:
    """Return whether the calls were exactly these, in this order."""
    return len(actual) == len(expected) and find_order_break(actual, expected) is None


def find_closest(calls: Sequence[ToolCall], args: Mapping[str, Any]) -> list[Difference]:
    """Return the differences of the call whose args are closest to the expected ones; `calls` must not be empty."""
    return min((find_differences(call.args, args) for call in calls), key=len)


def _describe_no_match(
    run: RunResult, name: str, named: Sequence[ToolCall], args: Mapping[str, Any] | None, subagent: str | None
) -> str:
    if not named:
        if subagent is not None:
            return _describe_subagent(run, subagent)
        return _describe_tools([call.name for call in run.tool_calls])
    called = f"{name!r} was called {len(named)} time(s) but"
    differences = find_closest(named, args or {})
    if differences:
        closest = "; ".join(f"{found.path}: {found.text}" for found in differences)
        return f"{called} no call matched the expected args; closest call differs in {closest}"
    return f"{called} with the outcome: {', '.join(call.outcome or 'not finished' for call in named)}"


def _describe_subagent(run: RunResult, subagent: str) -> str:
    called = [call.name for call in select_calls(run.tool_calls, subagent=subagent)]
    if called:
        return f"{_describe_tools(called)} under sub-agent {subagent!r}"
    others = sorted({name for call in run.tool_calls for name in call.subagent_path})
    return f"sub-agent {subagent!r} called nothing; sub-agents that called tools were [{', '.join(others)}]"


def _describe_tools(names: Sequence[str]) -> str:
    return f"tools called were [{', '.join(names)}]"
