"""Assertions on what a run used: steps, tokens, dollars, milliseconds. An unreported number fails and says so."""

from typing import Literal

from ...core.json_values import render_number
from ...results import AssertionKey, AssertionResult, Missing, RunResult
from .base import make_result


def max_steps(run: RunResult, limit: int) -> AssertionResult:
    """Pass when the run took at most `limit` steps of the lead agent."""
    return _check_limit("within_iteration_budget", "max_steps", limit, run.steps, "step(s)", run, "steps")


def max_tokens(run: RunResult, limit: int) -> AssertionResult:
    """Pass when the run used at most `limit` tokens, input and output, including sub-agents."""
    total = run.usage.total_tokens if run.usage else None
    return _check_limit("within_token_budget", "max_tokens", limit, total, "token(s)", run, "usage")


def max_cost_usd(run: RunResult, limit: float, *, unknown_cost: Literal["fail", "skip"] = "fail") -> AssertionResult:
    """Pass when the run cost at most `limit` dollars. With "skip", an unknown cost passes and is marked as skipped."""
    cost = run.usage.cost_usd if run.usage else None
    if unknown_cost == "skip" and "cost" in run.missing and (cost is None or cost <= limit):
        warning = "not checked: the deployment did not report every cost, and unknown_cost is 'skip'"
        title = f"max_cost_usd({render_number(limit)})"
        return AssertionResult(
            name=title, key="within_cost_budget", passed=True, score=1.0, skipped=True, message=f"{title} {warning}"
        )
    return _check_limit("within_cost_budget", "max_cost_usd", limit, cost, "US dollars", run, "cost")


def max_duration_ms(run: RunResult, limit: float) -> AssertionResult:
    """Pass when the agent took at most `limit` milliseconds, from the request to the end of the run."""
    result = _check_limit("within_duration_budget", "max_duration_ms", limit, run.timing.total_ms, "ms", run)
    # A run that broke may have waited for the network rather than the agent.
    return result if run.finish_reason else result.model_copy(update={"conclusive": False})


def max_first_text_ms(run: RunResult, limit: float) -> AssertionResult:
    """Pass when the first text of the reply came within `limit` milliseconds, in every turn that had one."""
    if run.timing.first_text_ms is None:
        title = f"max_first_text_ms({render_number(limit)})"
        return make_result("within_first_text_budget", title, False, "no text came at all")
    result = _check_limit("within_first_text_budget", "max_first_text_ms", limit, run.timing.first_text_ms, "ms", run)
    # If events were lost, one of them may have held an earlier text.
    return result.model_copy(update={"conclusive": result.conclusive and "events" not in run.missing})


def _check_limit(
    key: AssertionKey,
    assertion: str,
    limit: float,
    got: float | None,
    unit: str,
    run: RunResult,
    needs: Missing | None = None,
) -> AssertionResult:
    title = f"{assertion}({render_number(limit)})"
    seen = f"got {render_number(got)} {unit}, expected at most {render_number(limit)}" if got is not None else ""
    if got is not None and got > limit:
        # What was not reported could only add to it.
        return make_result(key, title, False, seen, conclusive=True)
    if got is None or needs in run.missing:
        return make_result(key, title, False, f"the run did not report {needs}, so there is nothing to compare")
    return make_result(key, title, True, seen)
