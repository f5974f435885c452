"""How an assertion's result is made: its name, its message, and what absence needs to be proven."""

from typing import Any

from ..matching import render_json
from ..results import AssertionResult, RunResult

_ENDS = {
    "length": "the model hit its limit of output tokens",
    "max-steps": "the run hit its step limit while still calling tools",
    "awaiting-approval": "the run paused for a decision",
    "aborted": "the run was aborted",
    "error": "the run failed",
    "budget-exceeded": "the run hit its budget",
    "guardrail": "a guardrail stopped the run",
    "output-invalid": "the output did not fit its schema",
    "content-filter": "the provider's content filter stopped the run",
}


def label(assertion: str, subject: str | list[str], **options: Any) -> str:
    """Return an assertion as the call that made it: `called_tool('lookup_order', times=2)`."""
    given = [f"{key}={render_json(value)}" for key, value in options.items() if value is not None]
    return f"{assertion}({', '.join([repr(subject), *given])})"


def judged(key: str, name: str, passed: bool, seen: str, *, conclusive: bool = False) -> AssertionResult:
    """Return a yes-or-no result, which says what was seen only when it failed, and whether that is conclusive."""
    return AssertionResult(
        name=name,
        key=key,
        passed=passed,
        score=float(passed),
        message="" if passed else f"{name} failed: {seen}",
        conclusive=conclusive and not passed,
    )


def absent(key: str, name: str, run: RunResult, expected_end: str) -> AssertionResult:
    """Judge what was not seen: it is absent only from a whole run that came to its expected end."""
    if "events" in run.missing:
        return judged(key, name, False, "events were lost on the way, so it may still have happened")
    seen = f"the run did not come to its expected end, so it may still have happened: {describe_end(run)}"
    return judged(key, name, run.finish_reason == expected_end, seen)


def describe_end(run: RunResult) -> str:
    """Return how a run ended, for a person."""
    if run == RunResult(missing=run.missing):
        return "nothing was sent yet"
    if run.finish_reason is None:
        return f"the run never ended; the last event was {run.last_event or 'none'}"
    if run.ended_normally:
        return "finish reason was 'stop' (the normal end)"
    why = _ENDS.get(run.finish_reason, "not the normal end, 'stop'")
    if run.error:
        code = f" [{run.error.code}]" if run.error.code else ""
        why += f": {run.error.name}{code}" + (f": {run.error.message}" if run.error.message else "")
    if run.pending_approval:
        why += f" on {run.pending_approval.tool}; decide it in the next turn, or expect this finish_reason"
    return f"finish reason was {run.finish_reason!r} ({why})"
