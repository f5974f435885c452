"""How an assertion's result is made: its name, its message, and what absence needs to be proven."""

from typing import Any

from ...core.json_values import render_json
from ...results import AssertionKey, AssertionResult, RunResult, describe_end


def label(assertion: str, subject: str | list[str], **options: Any) -> str:
    """Return an assertion as the call that made it: `called_tool('lookup_order', times=2)`."""
    given = [f"{key}={render_json(value)}" for key, value in options.items() if value is not None]
    return f"{assertion}({', '.join([repr(subject), *given])})"


def judged(
    key: AssertionKey, name: str, passed: bool, seen: str, *, about: str = "", conclusive: bool = False
) -> AssertionResult:
    """Return a yes-or-no result, which says what was seen only when it failed, and whether that is conclusive.

    `about` is what tells several assertions of one key apart, such as the name of the tool.
    """
    return AssertionResult(
        name=name,
        key=f"{key}:{about}" if about else key,
        passed=passed,
        score=float(passed),
        message="" if passed else f"{name} failed: {seen}",
        conclusive=conclusive and not passed,
    )


def absent(key: AssertionKey, name: str, run: RunResult, expected_end: str, *, about: str = "") -> AssertionResult:
    """Judge what was not seen: it is absent only from a whole run that came to its expected end."""
    if "events" in run.missing:
        return judged(key, name, False, "events were lost on the way, so it may still have happened", about=about)
    seen = f"the run did not come to its expected end, so it may still have happened: {describe_end(run)}"
    return judged(key, name, run.finish_reason == expected_end, seen, about=about)
