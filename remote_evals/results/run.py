"""One run of an agent, wherever it ran, and the runs of a conversation combined into one.

A case of several turns is asserted on exactly as a single run is.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, Literal

from pydantic import Field, computed_field, model_validator

from .approvals import PendingApproval
from .data import Data

Missing = Literal["usage", "steps", "cost", "events"]

_NUMBERS: tuple[Missing, ...] = ("usage", "steps", "cost")
_MISSING: tuple[Missing, ...] = (*_NUMBERS, "events")

PAUSED = "awaiting-approval"

_ENDS = {
    "length": "the model hit its limit of output tokens",
    "max-steps": "the run hit its step limit while still calling tools",
    PAUSED: "the run paused for a decision",
    "aborted": "the run was aborted",
    "error": "the run failed",
    "budget-exceeded": "the run hit its budget",
    "guardrail": "a guardrail stopped the run",
    "output-invalid": "the output did not fit its schema",
    "content-filter": "the provider's content filter stopped the run",
}
FINISH_REASONS = frozenset({"stop", *_ENDS})


class RunError(Data):
    """Why a run or a tool call failed, in the deployment's own words; deployed servers often hide `message`.

    `advice` is what to try, if the protocol knows what `code` asks for.
    """

    name: str
    message: str = ""
    code: str | None = None
    advice: str | None = None


class ToolCall(Data):
    """One call of a tool; a run lists its calls in the order in which they started.

    `subagent_path` names the sub-agents that lead to the caller, outermost first; it is empty for the lead agent.
    `outcome` is None for a call that did not finish in its run, for example because the run paused for an approval.
    `turn` counts from 1.
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
    """Tokens and dollars of one or more runs; `cost_usd` is None if the price is unknown, which is not zero."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost_usd: float | None = None
    model_calls: int | None = None
    estimated: bool = False


class Timing(Data):
    """When things arrived, in milliseconds after the request was sent; None for what never arrived.

    `longest_gap_ms` is the longest silence between two events or before the first.
    """

    headers_ms: float | None = None
    first_event_ms: float | None = None
    first_text_ms: float | None = None
    total_ms: float = 0.0
    longest_gap_ms: float = 0.0


class RunResult(Data):
    """One run of an agent, or the runs of a whole conversation combined into one.

    `finish_reason` is "stop" for the one normal end, another word of the protocol for any other end, and None if the
    stream broke before it gave one. `missing` names what the run did not report: assertions on it fail, since a number
    built without it would be a guess; it holds "events" if the numbers of the events show that some were lost.
    `trace_id` is the W3C trace id that the request carried, which finds the run in the deployment's own traces.
    `retries` counts the requests that were sent again because the deployment cannot have started them; no time
    includes the waits between them. `warnings` describes what was odd in the stream, one sentence each.
    `pending_approvals` are the requests that a paused run waits for, in the order in which they were asked.
    """

    turn: int = 1
    reply: str = ""
    finish_reason: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    steps: int = 0
    usage: Usage | None = None
    object: Any = None
    pending_approvals: tuple[PendingApproval, ...] = ()
    error: RunError | None = None
    timing: Timing = Timing()
    missing: tuple[Missing, ...] = ()
    last_event: str | None = None
    run_id: str | None = None
    trace_id: str | None = None
    retries: int = 0
    warnings: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _take_single_approval(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or data.get("pending_approval") is None or "pending_approvals" in data:
            return data
        return {**data, "pending_approvals": (data["pending_approval"],)}

    @computed_field  # type: ignore[prop-decorator] # mypy knows no decorated properties
    @property
    def pending_approval(self) -> PendingApproval | None:
        """The first request that a paused run waits for; it may be given in place of `pending_approvals`."""
        return self.pending_approvals[0] if self.pending_approvals else None

    @property
    def ended_normally(self) -> bool:
        """Whether the run came to its normal end, so that what it did not do is known too."""
        return self.finish_reason == "stop"


def describe_end(run: RunResult) -> str:
    """Return how a run ended, for a person to read."""
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
        why += f"; {run.error.advice}" if run.error.advice else ""
    if run.pending_approvals:
        why += _describe_pause(run.pending_approvals)
    return f"finish reason was {run.finish_reason!r} ({why})"


def _describe_pause(requests: Sequence[PendingApproval]) -> str:
    sign_ins = [
        " ".join(filter(None, ["for", one.sign_in.provider or one.tool, one.sign_in.url and f"at {one.sign_in.url}"]))
        for one in requests
        if one.sign_in
    ]
    decide = "decide it in the next turn" if len(requests) == 1 else "decide each in a turn of its own"
    if sign_ins:
        decide = f"it needs a sign-in {' and '.join(sign_ins)}, which no eval does: sign in there first"
    return f" on {', '.join(one.tool for one in requests)}; {decide}, or expect this finish_reason"


def combine_runs(runs: Sequence[RunResult]) -> RunResult:
    """Return the runs of a conversation as one run: a single run as it is, and an empty run if there is none.

    Reply, object and pending approvals are those of the last run. Calls, steps, usage, total time, retries and warnings
    add up; every other time is the latest of all runs. The finish reason is the first that is not "stop": one broken
    run breaks the conversation. What any run did not report is missing from the whole.
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
        cost_usd=fsum(costs) if costs else None,
        model_calls=sum(calls) if calls else None,
        estimated=any(usage.estimated for usage in usages),
    )


def _add_timings(timings: Sequence[Timing]) -> Timing:
    return Timing(
        headers_ms=_find_latest(timing.headers_ms for timing in timings),
        first_event_ms=_find_latest(timing.first_event_ms for timing in timings),
        first_text_ms=_find_latest(timing.first_text_ms for timing in timings),
        total_ms=sum(timing.total_ms for timing in timings),
        longest_gap_ms=max(timing.longest_gap_ms for timing in timings),
    )


def _find_latest(moments: Iterable[float | None]) -> float | None:
    return max((moment for moment in moments if moment is not None), default=None)
