"""What every result is."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """An immutable record. JSON values in it stay `Any`: the wire may hold lone surrogates, which pydantic refuses."""

    model_config = ConfigDict(frozen=True)


Missing = Literal["usage", "steps", "cost", "events"]


class RunError(Data):
    """Why a run or a tool call failed, in the deployment's own words; deployed servers often hide `message`."""

    name: str
    message: str = ""
    code: str | None = None


class ToolCall(Data):
    """One call of a tool, in the order in which the calls started.

    `subagent_path` names the sub-agents that lead to the caller, outermost first; it is empty for the lead agent.
    `outcome` is None for a call that never finished in its run, as when the run paused for an approval. `turn` counts
    from 1.
    """

    id: str
    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    subagent_path: tuple[str, ...] = ()
    outcome: Literal["ok", "error"] | None = None
    result: Any = None
    error: RunError | None = None
    duration_ms: float | None = None
    turn: int = 1


class Usage(Data):
    """Tokens and dollars of one or more runs; `cost_usd` None means the price is unknown, which is not zero."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost_usd: float | None = None
    model_calls: int | None = None
    estimated: bool = False


class Timing(Data):
    """When things arrived, in milliseconds after the request was sent; None for what never came.

    `longest_gap_ms` is the longest silence between two events, or before the first.
    """

    headers_ms: float | None = None
    first_event_ms: float | None = None
    first_text_ms: float | None = None
    total_ms: float = 0.0
    longest_gap_ms: float = 0.0


class PendingApproval(Data):
    """A decision, or an answer, that a paused run waits for."""

    approval_id: str
    tool_call_id: str
    tool: str
    args: dict[str, Any] = Field(default_factory=dict)
    question: dict[str, Any] | None = None


class RunResult(Data):
    """One run of an agent, or the runs of a whole conversation combined into one.

    `finish_reason` is "stop" for the one normal end, another word of the protocol for any other, and None when the
    stream broke before it said. `missing` names what the run did not report: a number built without it would be a
    guess, so assertions on it fail; "events" stands there when the numbers of the events show that some were lost.
    `trace_id` is the W3C trace id that the request carried, to find the run in the deployment's own traces. `retries`
    counts the requests that were sent once more, since the deployment could not have begun on them; the waits between
    are in no time. `warnings` says what was odd in the stream, a sentence each.
    """

    turn: int = 1
    reply: str = ""
    finish_reason: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    steps: int = 0
    usage: Usage | None = None
    object: Any = None
    pending_approval: PendingApproval | None = None
    error: RunError | None = None
    timing: Timing = Timing()
    missing: tuple[Missing, ...] = ()
    last_event: str | None = None
    run_id: str | None = None
    trace_id: str | None = None
    retries: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def ended_normally(self) -> bool:
        """Whether the run came to its own end, so that what it did not do is known too."""
        return self.finish_reason == "stop"


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
