"""Assertions on what a run took: steps, tokens, dollars, milliseconds. What was not reported fails and says so."""

from typing import Literal

from ...core.json_values import render_number
from ...results import AssertionKey, AssertionResult, Missing, RunResult
from .base import judged


def max_steps(run: RunResult, limit: int) -> AssertionResult:
    """Pass when the run took at most `limit` steps of the lead agent."""
    return _at_most("within_iteration_budget", "max_steps", limit, run.steps, "step(s)", run, "steps")


def max_tokens(run: RunResult, limit: int) -> AssertionResult:
    """Pass when the run used at most `limit` tokens, in and out, sub-agents included."""
    return _at_most(
        "within_token_budget",
        "max_tokens",
        limit,
        run.usage.total_tokens if run.usage else None,
        "token(s)",
        run,
        "usage",
    )


def max_cost_usd(run: RunResult, limit: float, *, unknown_cost: Literal["fail", "skip"] = "fail") -> AssertionResult:
    """Pass when the run cost at most `limit` dollars; "skip" passes a run of unknown cost, marked so."""
    cost = run.usage.cost_usd if run.usage else None
    if unknown_cost == "skip" and "cost" in run.missing and (cost is None or cost <= limit):
        warning = "not checked: the deployment did not report every cost, and unknown_cost is 'skip'"
        name = f"max_cost_usd({render_number(limit)})"
        return AssertionResult(
            name=name, key="within_cost_budget", passed=True, score=1.0, skipped=True, message=f"{name} {warning}"
        )
    if cost is not None and cost > limit:
        return _at_most("within_cost_budget", "max_cost_usd", limit, cost, "US dollars", run)
    return _at_most("within_cost_budget", "max_cost_usd", limit, cost, "US dollars", run, "cost")


def max_duration_ms(run: RunResult, limit: float) -> AssertionResult:
    """Pass when the agent took at most `limit` milliseconds, from the request to the end of the run."""
    made = _at_most("within_duration_budget", "max_duration_ms", limit, run.timing.total_ms, "ms", run)
    # A run that broke may have waited for the way, and not for the agent.
    return made if run.finish_reason else made.model_copy(update={"conclusive": False})


def max_first_text_ms(run: RunResult, limit: float) -> AssertionResult:
    """Pass when the first text of the reply came within `limit` milliseconds, in every turn that had one."""
    if run.timing.first_text_ms is None:
        return judged(
            "within_first_text_budget", f"max_first_text_ms({render_number(limit)})", False, "no text came at all"
        )
    made = _at_most("within_first_text_budget", "max_first_text_ms", limit, run.timing.first_text_ms, "ms", run)
    # Where events were lost, an earlier text may be among them.
    return made.model_copy(update={"conclusive": made.conclusive and "events" not in run.missing})


def _at_most(
    key: AssertionKey,
    assertion: str,
    limit: float,
    got: float | None,
    unit: str,
    run: RunResult,
    needs: Missing | None = None,
) -> AssertionResult:
    name = f"{assertion}({render_number(limit)})"
    seen = f"got {render_number(got)} {unit}, expected at most {render_number(limit)}" if got is not None else ""
    if got is not None and got > limit:
        # What was not reported would only add to it.
        return judged(key, name, False, seen, conclusive=True)
    if got is None or needs in run.missing:
        return judged(key, name, False, f"the run did not report {needs}, so there is nothing to compare")
    return judged(key, name, True, seen)
