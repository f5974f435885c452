"""Assertions on how a run ended and what it replied, and on any value by a value check."""

import re
from typing import Any, Literal

from ...core.json_values import render_json
from ...results import AssertionKey, AssertionResult, RunResult, describe_end
from .base import check_absence, make_result, render_call
from .values import Check, MissingValue


def ended(run: RunResult, reason: str = "stop") -> AssertionResult:
    """Pass when the run ended with this finish reason."""
    key: AssertionKey = "completed" if reason == "stop" else "finish_reason"
    title = "completed()" if reason == "stop" else f"finish_reason({reason!r})"
    expected = "" if reason == "stop" else f"expected {reason!r}, "
    passed, seen = run.finish_reason == reason, expected + describe_end(run)
    return make_result(key, title, passed, seen, conclusive=run.finish_reason is not None)


def nothing_pending(
    run: RunResult, verb: Literal["approve", "reject", "answer"], tool: str | None = None
) -> AssertionResult:
    """Fail, since there was nothing to approve, reject or answer, or no call of this tool."""
    title = f"{verb}()" if tool is None else f"{verb}(tool={tool!r})"
    if tool is None or not run.pending_approvals:
        return make_result(verb, title, False, f"nothing waits for a decision; {describe_end(run)}")
    waiting = [request.tool for request in run.pending_approvals]
    seen = f"no call of {tool!r} waits for a decision, so nothing was sent; waiting: {', '.join(waiting)}"
    return make_result(verb, title, False, seen, about=tool)


def output_contains(run: RunResult, text: str) -> AssertionResult:
    """Pass when the reply contains the text, ignoring case."""
    found = text.casefold() in run.reply.casefold()
    title = render_call("output_contains", text)
    return make_result("output_contains", title, found, _describe_reply(run), about=text)


def output_not_contains(run: RunResult, text: str, *, expected_end: str = "stop") -> AssertionResult:
    """Pass when the reply does not contain the text, ignoring case."""
    title = render_call("output_not_contains", text)
    if text.casefold() in run.reply.casefold():
        # Text that streams before the end may belong to a step that is not the last.
        is_final = run.finish_reason is not None
        return make_result("output_not_contains", title, False, _describe_reply(run), about=text, conclusive=is_final)
    return check_absence("output_not_contains", title, run, expected_end, about=text)


def output_matches(run: RunResult, pattern: str) -> AssertionResult:
    """Pass when the regular expression is found in the reply. Raises `re.error` for an invalid one."""
    found = re.search(pattern, run.reply) is not None
    title = render_call("output_matches", pattern)
    return make_result("output_matches", title, found, _describe_reply(run), about=pattern)


def check_value(name: str, value: Any, check: Check) -> AssertionResult:
    """Pass when the value passes a check such as `includes("shipped")`."""
    if isinstance(value, MissingValue):
        message = f"{name} not checked: {value.why}" if value.skipped else f"{name} failed: {value.why}"
        passed = value.skipped
        return AssertionResult(name=name, key=name, passed=passed, score=float(passed), skipped=passed, message=message)
    try:
        outcome = check.judge(value)
    except Exception as error:  # a value's own `==` or `repr` may raise anything
        message = f"{name} failed: {check.name} raised {type(error).__name__}: {error}"
        return AssertionResult(name=name, key=name, passed=False, score=0.0, message=message)
    return AssertionResult(
        name=name,
        key=name,
        passed=outcome.passed,
        score=outcome.score,
        threshold=outcome.threshold,
        message="" if outcome.passed else f"{name} failed: expected {check.name}, {outcome.seen}",
    )


def _describe_reply(run: RunResult) -> str:
    return f"the reply was {render_json(run.reply)}" if run.reply else "the reply was empty"
