"""Assertions on how a run ended and what it said, and value checks."""

import re
from typing import Any

from ...core.json_values import render_json
from ...results import AssertionResult, RunResult
from ...results.run import describe_end
from .base import absent, judged, label
from .values import Check, Unjudged


def ended(run: RunResult, reason: str = "stop") -> AssertionResult:
    """Pass when the run ended with this finish reason."""
    name = "completed()" if reason == "stop" else f"finish_reason({reason!r})"
    expected = "" if reason == "stop" else f"expected {reason!r}, "
    passed, seen = run.finish_reason == reason, expected + describe_end(run)
    return judged(name.partition("(")[0], name, passed, seen, conclusive=run.finish_reason is not None)


def nothing_pending(run: RunResult, verb: str) -> AssertionResult:
    """Return that there was nothing to approve, reject or answer, which always fails."""
    return judged(verb, f"{verb}()", False, f"nothing waits for a decision; {describe_end(run)}")


def output_contains(run: RunResult, text: str) -> AssertionResult:
    """Pass when the reply contains the text, whatever its case."""
    key, title = f"output_contains:{text}", label("output_contains", text)
    return judged(key, title, text.casefold() in run.reply.casefold(), _describe_reply(run))


def output_not_contains(run: RunResult, text: str, *, expected_end: str = "stop") -> AssertionResult:
    """Pass when the reply does not contain the text, whatever its case."""
    key, title = f"output_not_contains:{text}", label("output_not_contains", text)
    if text.casefold() in run.reply.casefold():
        # What streams before the end may be of a step that is not the last.
        return judged(key, title, False, _describe_reply(run), conclusive=run.finish_reason is not None)
    return absent(key, title, run, expected_end)


def output_matches(run: RunResult, pattern: str) -> AssertionResult:
    """Pass when the regular expression is found in the reply. Raises `re.error` for an invalid one."""
    key = f"output_matches:{pattern}"
    return judged(
        key, label("output_matches", pattern), re.search(pattern, run.reply) is not None, _describe_reply(run)
    )


def check_value(name: str, value: Any, check: Check) -> AssertionResult:
    """Judge any value by a check such as `includes("shipped")`."""
    if isinstance(value, Unjudged):
        message = f"{name} not checked: {value.why}" if value.skipped else f"{name} failed: {value.why}"
        passed = value.skipped
        return AssertionResult(name=name, key=name, passed=passed, score=float(passed), skipped=passed, message=message)
    try:
        outcome = check.judge(value)
    except Exception as error:  # a value's own `==` or `repr` may raise anything
        return judged(name, name, False, f"{check.name} raised {type(error).__name__}: {error}")
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
