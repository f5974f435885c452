"""The outcome of one case: its assertions, why it could not be judged, what a judge said of it and what that cost."""

from math import fsum
from typing import Any, Literal, get_args

from pydantic import Field

from .data import Data
from .run import RunResult

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
"""The stable key of every built-in assertion; a check in an eval's own code has the name that it was given."""

ASSERTION_KEYS: frozenset[str] = frozenset(get_args(AssertionKey))


class JudgeUsage(Data):
    """Tokens and dollars of one or more gradings; `calls` is their number.

    Tokens that a judge does not report count as 0; `cost_usd` is None if no price is known, which is not zero.
    """

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    total_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    calls: int = Field(default=0, ge=0)

    def __add__(self, other: "JudgeUsage") -> "JudgeUsage":
        """Return the sum of both; its cost is the sum of the known costs."""
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return JudgeUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cost_usd=fsum(costs) if costs else None,
            calls=self.calls + other.calls,
        )


class Verdict(Data):
    """A judge's score from 0 to 1, its own yes or no in `passed` if it gave one, and its reason."""

    score: float = Field(ge=0, le=1, allow_inf_nan=False)
    passed: bool | None = None
    reason: str = ""
    usage: JudgeUsage = JudgeUsage()


class AssertionResult(Data):
    """One assertion that was made. A failed gate fails its case; a failed soft assertion does so only with `--strict`.

    `score` runs from 0 to 1, and is 0 or 1 unless the check measures; `threshold` is the score it had to reach.
    `key` is a stable name for machines, such as `tool_called:lookup_order`; `name` reads as the call that was made.
    `skipped` marks an assertion that passed because it could not be checked; `message` then says why. `turn` is the
    turn that was checked, from 1, or None for the whole case. `conclusive` means that what was seen made it fail, so
    that nothing unseen could change the outcome.
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

    `status` is the HTTP status of the response if that is the failure, and `deployment_code` the deployment's own code
    for it, if it gave one.
    """

    code: str
    message: str
    status: int | None = None
    deployment_code: str | None = None


class EvalResult(Data):
    """The outcome of one run of a case: its turns, the assertions made on them, and whether it could be judged at all.

    `run` is the whole conversation as one run, `turns` its parts. `case` is the name of the case, `name` that of this
    run of it: they differ if the case runs more than once. `metadata` is the case's own, unchanged. `target` is the
    deployment that was tested. `duration_ms` is the time that the agent took, over all turns. `case_warnings` describes
    what was odd in how the case went about it, one sentence each; what was odd in a stream is in `run.warnings`.
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
    case_warnings: tuple[str, ...] = ()
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
        """The names of the tools that were called, in order, by the lead agent and its sub-agents."""
        return [call.name for call in self.run.tool_calls]

    @property
    def iterations(self) -> int:
        """The number of steps of the lead agent."""
        return self.run.steps

    @property
    def checks(self) -> dict[str, bool]:
        """Whether each assertion passed, by its stable key; of several with the same key, whether all did."""
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
        """The score, from 0 to 1; 0 for a case that could not be judged or was skipped.

        It is the judge's score if a rubric was graded, and otherwise the mean score of the assertions.
        """
        if self.status in ("error", "skipped"):
            return 0.0
        if self.judged_score is not None:
            return self.judged_score
        if not self.assertions:
            return float(self.passed)
        return sum(one.score for one in self.assertions) / len(self.assertions)

    @property
    def failures(self) -> list[AssertionResult]:
        """What made the case fail: its failed gates, or with `--strict` its failed soft assertions."""
        return self.failed("gate") or (self.failed("soft") if self.status == "failed" else [])

    def failed(self, kind: Literal["gate", "soft"]) -> list[AssertionResult]:
        """Return the failed assertions of one kind, in the order in which they were made."""
        return [one for one in self.assertions if one.kind == kind and not one.passed]
