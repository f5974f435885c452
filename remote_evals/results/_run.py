"""One run of an agent, wherever it ran."""

from typing import Any, Literal

from pydantic import Field

from ._data import Data

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
