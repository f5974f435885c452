"""What a judge said of one reply, and what asking it used up."""

from typing import Any, Literal, get_args

from pydantic import Field

from .run import Data, RunResult


class JudgeUsage(Data):
    """Tokens and dollars of one or more gradings, `calls` in number.

    Tokens that a judge does not report count as 0; `cost_usd` None means that no price is known, which is not zero.
    """

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    total_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    calls: int = Field(default=0, ge=0)

    def __add__(self, other: "JudgeUsage") -> "JudgeUsage":
        """Return both together; the cost is the sum of those that are known."""
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return JudgeUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cost_usd=sum(costs) if costs else None,
            calls=self.calls + other.calls,
        )


class Verdict(Data):
    """A score from 0 to 1, the judge's own yes or no where it gave one, and why."""

    score: float = Field(ge=0, le=1, allow_inf_nan=False)
    passed: bool | None = None
    reason: str = ""
    usage: JudgeUsage = JudgeUsage()


Status = Literal["passed", "failed", "error", "skipped"]

AssertionKey = Literal[
    "answer",
    "approve",
    "completed",
    "finish_reason",
    "output_contains",
    "output_matches",
    "output_not_contains",
    "protocol",
    "reject",
    "rubric",
    "tool_called",
    "tool_not_called",
    "tool_sequence",
    "within_cost_budget",
    "within_duration_budget",
    "within_first_text_budget",
    "within_iteration_budget",
    "within_token_budget",
]
"""The stable name of every assertion that this package makes; a check of one's own has the name that it was given."""

ASSERTION_KEYS: frozenset[str] = frozenset(get_args(AssertionKey))


class AssertionResult(Data):
    """One assertion that was made. A failed gate fails its case; a soft one only with `--strict`.

    `score` runs from 0 to 1 and is 1 or 0 unless the check measures; `threshold` is the score it had to reach.
    `key` is a stable name for machines, `tool_called:lookup_order`; `name` reads as the call that was made. `skipped`
    marks an assertion that passed without having been able to look; `message` then says why. `turn` is the
    turn that was looked at, from 1; None for the whole case. `conclusive` says that it failed by what was seen, so
    that nothing that went unseen could undo it.
    """

    name: str
    key: str = ""
    kind: Literal["gate", "soft"] = "gate"
    passed: bool
    score: float
    threshold: float | None = None
    message: str = ""
    skipped: bool = False
    conclusive: bool = False
    turn: int | None = None


class CaseError(Data):
    """Why a case could not be judged: a stable `code`, such as REMOTE_UNREACHABLE, and a message.

    `status` is the HTTP status that was answered, where that is the failure.
    """

    code: str
    message: str
    status: int | None = None


class EvalResult(Data):
    """The outcome of one case: its turns, what was asserted of them, and whether it could be judged at all.

    `run` is the whole conversation as one run, `turns` its parts. `name` is the row's name, `case` the case's: they
    differ where a case runs more than once. `metadata` is the case's own, untouched; `target` is the deployment that
    was asked. `duration_ms` is the time the agent took, over all turns.
    """

    name: str
    case: str
    suite: str = ""
    file: str = ""
    target: str = ""
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)
    status: Status
    session_id: str | None = None
    run: RunResult = RunResult()
    turns: tuple[RunResult, ...] = ()
    assertions: tuple[AssertionResult, ...] = ()
    error: CaseError | None = None
    judged_score: float | None = None
    judge_usage: JudgeUsage | None = None
    pass_at: int | None = None

    @property
    def case_name(self) -> str:
        """The name of the case."""
        return self.case

    @property
    def output(self) -> str:
        """The last reply."""
        return self.run.reply

    @property
    def tools_called(self) -> list[str]:
        """The names of the tools that were called, in order, by whichever agent."""
        return [call.name for call in self.run.tool_calls]

    @property
    def iterations(self) -> int:
        """The steps of the lead agent."""
        return self.run.steps

    @property
    def checks(self) -> dict[str, bool]:
        """Whether each assertion passed, by its stable key; of assertions with the same key all must have."""
        checks: dict[str, bool] = {}
        for one in self.assertions:
            key = one.key or one.name
            checks[key] = checks.get(key, True) and one.passed
        return checks

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
        """The judge's score where a rubric was graded, else the mean of the assertions': the share that passed.

        From 0 to 1; a case that could not be judged has 0.
        """
        if self.status in ("error", "skipped"):
            return 0.0
        if self.judged_score is not None:
            return self.judged_score
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
