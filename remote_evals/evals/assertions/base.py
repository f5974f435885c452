"""Builds the result of an assertion: its name, its message, and the proof that absence needs."""

from typing import Any

from ...core.json_values import render_json
from ...results import AssertionKey, AssertionResult, RunResult, describe_end


def make_result(
    key: AssertionKey, title: str, passed: bool, seen: str, *, about: str = "", conclusive: bool = False
) -> AssertionResult:
    """Return the result of a check that either passes or fails.

    `title` is the assertion as it was called. The message says what was `seen`, and `conclusive` counts, only when
    the check failed. `about`, such as the name of the tool, distinguishes assertions with the same key.
    """
    return AssertionResult(
        name=title,
        key=f"{key}:{about}" if about else key,
        passed=passed,
        score=float(passed),
        message="" if passed else f"{title} failed: {seen}",
        conclusive=conclusive and not passed,
    )


def check_absence(
    key: AssertionKey, title: str, run: RunResult, expected_end: str, *, about: str = ""
) -> AssertionResult:
    """Check that what was not seen did not happen: it passes only for a complete run with the expected end."""
    if "events" in run.missing:
        return make_result(key, title, False, "events were lost on the way, so it may still have happened", about=about)
    seen = f"the run did not come to its expected end, so it may still have happened: {describe_end(run)}"
    return make_result(key, title, run.finish_reason == expected_end, seen, about=about)


def render_call(assertion: str, subject: str | list[str], **options: Any) -> str:
    """Return the assertion as it was called: `called_tool('lookup_order', times=2)`. Options of None are left out."""
    given = [f"{key}={render_json(value)}" for key, value in options.items() if value is not None]
    return f"{assertion}({', '.join([repr(subject), *given])})"
