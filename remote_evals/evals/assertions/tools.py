"""Assertions on which tools a run called."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from ...core.json_values import Difference, find_differences, render_json
from ...results import AssertionResult, RunResult, ToolCall
from .base import absent, judged, label


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


def find_closest(calls: Sequence[ToolCall], args: Mapping[str, Any]) -> list[Difference]:
    """Return the differences of the call whose args come nearest to the expected ones; `calls` must not be empty."""
    return min((find_differences(call.args, args) for call in calls), key=len)


def find_order_break(actual: Sequence[str], expected: Sequence[str]) -> str | None:
    """Return the first expected name that does not follow the ones before it, None when all come in order."""
    seen = iter(actual)
    return next((name for name in expected if not any(call in split_alternatives(name) for call in seen)), None)


def is_exact_order(actual: Sequence[str], expected: Sequence[str]) -> bool:
    """Say whether the calls were these, in this order, and no others."""
    return len(actual) == len(expected) and find_order_break(actual, expected) is None


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
    """Pass when the tool was called; `name` "a|b" is either. `times` counts the calls that match all the rest."""
    title = label("called_tool", name, args=args, times=times, subagent=subagent, outcome=outcome)
    verdict = partial(judged, "tool_called", title, about=name)
    named = select_calls(run.tool_calls, split_alternatives(name), subagent)
    matching = [
        call
        for call in named
        if not find_differences(call.args, args or {}) and (outcome is None or call.outcome == outcome)
    ]
    if times is None:
        return verdict(bool(matching), _describe_no_match(run, name, named, args, subagent))
    if len(matching) == times:
        return absent("tool_called", title, run, expected_end, about=name)
    if matching:
        seen = f"{len(matching)} call(s) matched, expected exactly {times}"
        return verdict(False, seen, conclusive=len(matching) > times)
    return verdict(False, _describe_no_match(run, name, named, args, subagent))


def not_called_tool(
    run: RunResult, name: str, *, subagent: str | None = None, expected_end: str = "stop"
) -> AssertionResult:
    """Pass when no agent, or none under `subagent`, called the tool."""
    title = label("not_called_tool", name, subagent=subagent)
    calls = select_calls(run.tool_calls, split_alternatives(name), subagent)
    if calls:
        by = f" by {'/'.join(calls[0].subagent_path)}" if calls[0].subagent_path else ""
        args = render_json(calls[0].args)
        seen = f"it was called {len(calls)} time(s), first{by} with {args}"
        return judged("tool_not_called", title, False, seen, about=name, conclusive=True)
    return absent("tool_not_called", title, run, expected_end, about=name)


def tool_order(
    run: RunResult,
    names: Sequence[str],
    *,
    subagent: str | None = None,
    exact: bool = False,
    expected_end: str = "stop",
) -> AssertionResult:
    """Pass when the tools were called in this order; others may sit between, unless `exact`."""
    title = label("tool_order", list(names), subagent=subagent, exact=exact or None)
    verdict = partial(judged, "tool_sequence", title)
    seen = [call.name for call in select_calls(run.tool_calls, subagent=subagent)]
    if not exact:
        missing = find_order_break(seen, names)
        return verdict(missing is None, f"{missing!r} did not come in its turn; {_describe_tools(seen)}")
    if not is_exact_order(seen, names):
        return verdict(False, _describe_tools(seen))
    return absent("tool_sequence", title, run, expected_end)


def _describe_tools(names: Sequence[str]) -> str:
    return f"tools called were [{', '.join(names)}]"


def _describe_under(run: RunResult, subagent: str) -> str:
    seen = sorted({name for call in run.tool_calls for name in call.subagent_path})
    calls = [call.name for call in select_calls(run.tool_calls, subagent=subagent)]
    if calls:
        return f"{_describe_tools(calls)} under sub-agent {subagent!r}"
    return f"sub-agent {subagent!r} called nothing; sub-agents that called tools were [{', '.join(seen)}]"


def _describe_no_match(
    run: RunResult, name: str, named: Sequence[ToolCall], args: Mapping[str, Any] | None, subagent: str | None
) -> str:
    if not named:
        return (
            _describe_tools([call.name for call in run.tool_calls])
            if subagent is None
            else _describe_under(run, subagent)
        )
    called = f"{name!r} was called {len(named)} time(s) but"
    differences = find_closest(named, args or {})
    if differences:
        closest = "; ".join(f"{found.path}: {found.text}" for found in differences)
        return f"{called} no call matched the expected args; closest call differs in {closest}"
    return f"{called} with the outcome: {', '.join(call.outcome or 'not finished' for call in named)}"
