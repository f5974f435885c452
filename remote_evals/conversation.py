"""Combines the runs of a conversation into one, so that a case is asserted on just as a single run is."""

from collections.abc import Iterable, Sequence

from .results import Missing, RunResult, Timing, Usage

_NUMBERS: tuple[Missing, ...] = ("usage", "steps", "cost")
_MISSING: tuple[Missing, ...] = (*_NUMBERS, "events")


def combine_runs(runs: Sequence[RunResult]) -> RunResult:
    """Return the conversation as one run; of a single run itself, of none an empty one.

    Reply, object and pending approval are the last run's; calls, steps, usage, time, retries and warnings add up, and
    of each other moment the latest counts. The finish reason is the first that was not "stop": one broken run is a
    broken conversation. A number that any run did not report is missing from the whole.
    """
    if len(runs) <= 1:
        return runs[0] if runs else RunResult(missing=_NUMBERS)
    broken = next((run for run in runs if not run.ended_normally), runs[-1])
    last = runs[-1]
    return last.model_copy(
        update={
            "turn": 1,
            "finish_reason": broken.finish_reason,
            "error": broken.error,
            "tool_calls": tuple(call for run in runs for call in run.tool_calls),
            "steps": sum(run.steps for run in runs),
            "usage": _add_usages([run.usage for run in runs if run.usage]),
            "timing": _add_timings([run.timing for run in runs]),
            "retries": sum(run.retries for run in runs),
            "warnings": tuple(warning for run in runs for warning in run.warnings),
            "missing": tuple(name for name in _MISSING if any(name in run.missing for run in runs)),
        }
    )


def _add_usages(usages: Sequence[Usage]) -> Usage | None:
    if not usages:
        return None
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    calls = [usage.model_calls for usage in usages if usage.model_calls is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        total_tokens=sum(usage.total_tokens for usage in usages),
        cost_usd=sum(costs) if costs else None,
        model_calls=sum(calls) if calls else None,
        estimated=any(usage.estimated for usage in usages),
    )


def _add_timings(timings: Sequence[Timing]) -> Timing:
    return Timing(
        headers_ms=_latest(timing.headers_ms for timing in timings),
        first_event_ms=_latest(timing.first_event_ms for timing in timings),
        first_text_ms=_latest(timing.first_text_ms for timing in timings),
        total_ms=sum(timing.total_ms for timing in timings),
        longest_gap_ms=max(timing.longest_gap_ms for timing in timings),
    )


def _latest(moments: Iterable[float | None]) -> float | None:
    return max((moment for moment in moments if moment is not None), default=None)
