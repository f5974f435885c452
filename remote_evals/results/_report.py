"""The outcome of all cases."""

from ..visible import show_line
from ._case import EvalResult, Status
from ._data import Data
from ._judging import JudgeUsage
from ._repeats import CaseResult, group_runs

_MARKS: dict[Status, str] = {"passed": "PASS", "failed": "FAIL", "error": "ERROR", "skipped": "SKIP"}


class EvalReport(Data):
    """Every case of a run of suites, in the order of the files. `duration_ms` is wall-clock time.

    `target` is the deployment as it may be shown: no userinfo, no query. `started_at` is ISO 8601 in UTC.
    """

    tool_version: str
    started_at: str
    target: str
    duration_ms: float
    results: tuple[EvalResult, ...] = ()
    interrupted: bool = False

    @property
    def cases(self) -> tuple[CaseResult, ...]:
        """The cases, each with its runs."""
        return group_runs(self.results)

    def count(self, status: Status) -> int:
        """Return how many cases ended so, over all of their runs."""
        return sum(case.status == status for case in self.cases)

    @property
    def total_cases(self) -> int:
        """How many cases there are."""
        return len(self.cases)

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return self.count("passed")

    @property
    def failed(self) -> int:
        """How many cases failed; those that could not be judged are not among them."""
        return self.count("failed")

    @property
    def total_duration_ms(self) -> float:
        """The wall-clock time of it all, in milliseconds."""
        return self.duration_ms

    @property
    def pass_rate(self) -> float:
        """The share of runs that passed, 0 to 1; no run at all is 0, never a silent 1."""
        return sum(result.passed for result in self.results) / len(self.results) if self.results else 0.0

    def summary(self) -> str:
        """Return the report as a few lines of bare text: a row a run, and under it each check that failed.

        Nothing in it acts on a terminal, whatever an agent said.
        """
        if not self.results:
            return "Eval Report: no cases ran"
        lines = [
            f"Eval Report: {self.passed}/{self.total_cases} passed (avg score: {self.avg_score:.2f})",
            f"Total duration: {self.duration_ms:.0f}ms",
        ]
        lines += [
            f"  [{_MARKS[case.status]}] {case.name} ({case.rate} runs{', flaky' if case.is_flaky else ''})"
            for case in self.cases
            if len(case.runs) > 1
        ]
        for result in self.results:
            mark = _MARKS[result.status]
            lines.append(f"  [{mark}] {result.name} (score: {result.score:.2f}, {result.duration_ms:.0f}ms)")
            lines += [f"         - {key}: FAILED" for key, passed in result.checks.items() if not passed]
            lines += [f"         - {result.error.code}: {result.error.message}"] if result.error else []
        return "\n".join(map(show_line, lines))

    @property
    def avg_score(self) -> float:
        """The mean score of all runs; 0 for none."""
        return sum(result.score for result in self.results) / len(self.results) if self.results else 0.0

    @property
    def soft_failed(self) -> int:
        """How many soft assertions failed."""
        return sum(len(result.failed("soft")) for result in self.results)

    @property
    def protocol_warnings(self) -> int:
        """How many oddities there were in the streams of all cases."""
        return sum(len(result.run.warnings) for result in self.results)

    @property
    def retries(self) -> int:
        """How many requests were sent again."""
        return sum(result.run.retries for result in self.results)

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

    @property
    def judge_usage(self) -> JudgeUsage | None:
        """What judging took, apart from the agent's own usage; None when no judge was asked."""
        known = [result.judge_usage for result in self.results if result.judge_usage]
        return sum(known[1:], known[0]) if known else None
