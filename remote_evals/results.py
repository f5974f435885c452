"""What happened, as data only: the runs of a case, what was asserted of them, and the report of all cases.

Nothing here reads a wire, judges a reply or prints: a run rebuilt from a deployment's stream and one made in process
are the same `RunResult`, and every assertion and reporter works on that alone.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Missing = Literal["usage", "steps", "cost"]
Status = Literal["passed", "failed", "error", "skipped"]


class _Data(BaseModel):
    """An immutable record. JSON values stay `Any`: the wire may hold lone surrogates, which pydantic would refuse."""

    model_config = ConfigDict(frozen=True)


class RunError(_Data):
    """Why a run or a tool call failed, in the deployment's own words; deployed servers often hide `message`."""

    name: str
    message: str = ""
    code: str | None = None


class ToolCall(_Data):
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


class Usage(_Data):
    """Tokens and dollars of one or more runs; `cost_usd` None means the price is unknown, which is not zero."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost_usd: float | None = None
    model_calls: int | None = None
    estimated: bool = False


class Timing(_Data):
    """When things arrived, in milliseconds after the request was sent; None for what never came.

    `longest_gap_ms` is the longest silence between two events, or before the first.
    """

    headers_ms: float | None = None
    first_event_ms: float | None = None
    first_text_ms: float | None = None
    total_ms: float = 0.0
    longest_gap_ms: float = 0.0


class PendingApproval(_Data):
    """A decision, or an answer, that a paused run waits for."""

    approval_id: str
    tool_call_id: str
    tool: str
    args: dict[str, Any] = Field(default_factory=dict)
    question: dict[str, Any] | None = None


class RunResult(_Data):
    """One run of an agent, or the runs of a whole conversation combined into one.

    `finish_reason` is "stop" for the one normal end, another word of the protocol for any other, and None when the
    stream broke before it said. `missing` names what the run did not report: a number built without it would be a
    guess, so assertions on it fail. `trace_id` is the W3C trace id that the request carried, to find the run in the
    deployment's own traces.
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

    @property
    def ended_normally(self) -> bool:
        """Whether the run came to its own end, so that what it did not do is known too."""
        return self.finish_reason == "stop"


class AssertionResult(_Data):
    """One assertion that was made. A failed gate fails its case; a soft one only with `--strict`.

    `score` runs from 0 to 1 and is 1 or 0 unless the check measures; `threshold` is the score it had to reach.
    `skipped` marks an assertion that passed without having been able to look; `message` then says why.
    """

    name: str
    kind: Literal["gate", "soft"] = "gate"
    passed: bool
    score: float
    threshold: float | None = None
    message: str = ""
    skipped: bool = False


class CaseError(_Data):
    """Why a case could not be judged: a stable `code`, such as REMOTE_UNREACHABLE, and a message."""

    code: str
    message: str


class EvalResult(_Data):
    """The outcome of one case: its turns, what was asserted of them, and whether it could be judged at all.

    `run` is the whole conversation as one run, `turns` its parts. `name` is the row's name, `case` the case's: they
    differ where a case runs more than once. `duration_ms` is the time the agent took, over all turns.
    """

    name: str
    case: str
    suite: str = ""
    file: str = ""
    tags: tuple[str, ...] = ()
    status: Status
    session_id: str | None = None
    run: RunResult = RunResult()
    turns: tuple[RunResult, ...] = ()
    assertions: tuple[AssertionResult, ...] = ()
    error: CaseError | None = None

    @property
    def passed(self) -> bool:
        """Whether every gate was checked and passed."""
        return self.status == "passed"

    @property
    def duration_ms(self) -> float:
        """The time of all turns, in milliseconds."""
        return self.run.timing.total_ms

    @property
    def score(self) -> float:
        """The share of assertions that passed, 0 to 1; a case that could not be judged has 0."""
        if self.status in ("error", "skipped"):
            return 0.0
        if not self.assertions:
            return float(self.passed)
        return sum(assertion.score for assertion in self.assertions) / len(self.assertions)

    @property
    def failures(self) -> list[AssertionResult]:
        """What made the case fail: its failed gates, or under `--strict` the failed soft assertions."""
        return self.failed("gate") or (self.failed("soft") if self.status == "failed" else [])

    def failed(self, kind: Literal["gate", "soft"]) -> list[AssertionResult]:
        """Return the failed assertions of one kind, in the order in which they were made."""
        return [a for a in self.assertions if a.kind == kind and not a.passed]


class EvalReport(_Data):
    """Every case of a run of suites, in the order of the files. `duration_ms` is wall-clock time.

    `target` is the deployment as it may be shown: no userinfo, no query. `started_at` is ISO 8601 in UTC.
    """

    tool_version: str
    started_at: str
    target: str
    duration_ms: float
    results: tuple[EvalResult, ...] = ()
    interrupted: bool = False

    def count(self, status: Status) -> int:
        """Return how many cases ended so."""
        return sum(result.status == status for result in self.results)

    @property
    def pass_rate(self) -> float:
        """The share of cases that passed, 0 to 1; no case at all is 0, never a silent 1."""
        return self.count("passed") / len(self.results) if self.results else 0.0

    @property
    def avg_score(self) -> float:
        """The mean score of all cases; 0 for none."""
        return sum(result.score for result in self.results) / len(self.results) if self.results else 0.0

    @property
    def soft_failed(self) -> int:
        """How many soft assertions failed."""
        return sum(len(result.failed("soft")) for result in self.results)

    @property
    def steps(self) -> int:
        """The steps of all cases."""
        return sum(result.run.steps for result in self.results)

    @property
    def total_tokens(self) -> int | None:
        """The tokens of all cases that reported any; None when none did."""
        known = [result.run.usage.total_tokens for result in self.results if result.run.usage]
        return sum(known) if known else None

    @property
    def cost_usd(self) -> float | None:
        """The dollars of all cases that reported a cost; None when none did."""
        usages = [result.run.usage for result in self.results if result.run.usage]
        known = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        return sum(known) if known else None
