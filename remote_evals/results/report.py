"""The outcome of one case over all of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.text import escape_control_chars
from .case import EvalResult, JudgeUsage, Status
from .run import Data


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of some numbers, the least and the greatest of them."""

    mean: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case and its runs, at least one, each of which was a session of its own.

    The case passes when `needed` of its runs do; one that passes some and not others is flaky, passed or not.
    """

    runs: tuple[EvalResult, ...]

    @property
    def name(self) -> str:
        """The name of the case."""
        return self.runs[0].case

    @property
    def needed(self) -> int:
        """How many runs must pass."""
        return self.runs[0].pass_at or len(self.runs)

    @property
    def passed_runs(self) -> int:
        """How many runs passed."""
        return sum(run.passed for run in self.runs)

    @property
    def status(self) -> Status:
        """Passed when enough runs did; failed when too many failed for that, whatever became of the others."""
        if self.passed_runs >= self.needed:
            return "passed"
        statuses = [run.status for run in self.runs]
        if len(self.runs) - statuses.count("failed") < self.needed:
            return "failed"
        return "error" if "error" in statuses else "skipped"

    @property
    def is_flaky(self) -> bool:
        """Whether some runs passed and others that were made did not."""
        return 0 < self.passed_runs < len(self._made)

    @property
    def rate(self) -> str:
        """How many runs passed of how many: "2/3"."""
        return f"{self.passed_runs}/{len(self.runs)}"

    @property
    def score(self) -> Spread:
        """The scores of the runs, 0 to 1."""
        return _spread([run.score for run in self._made])

    @property
    def duration_ms(self) -> Spread:
        """The times of the runs, in milliseconds."""
        return _spread([run.duration_ms for run in self._made])

    @property
    def _made(self) -> list[EvalResult]:
        """The runs that were not skipped."""
        return [run for run in self.runs if run.status != "skipped"]


def group_runs(results: Sequence[EvalResult]) -> tuple[CaseResult, ...]:
    """Return the cases of results in which the runs of a case stand together, from `#1` on."""
    cases: list[list[EvalResult]] = []
    for result in results:
        if result.name == result.case or result.name == f"{result.case} #1" or not cases:
            cases.append([])
        cases[-1].append(result)
    return tuple(CaseResult(tuple(runs)) for runs in cases)


def _spread(numbers: Sequence[float]) -> Spread:
    return Spread(sum(numbers) / len(numbers), min(numbers), max(numbers)) if numbers else Spread(0.0, 0.0, 0.0)


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
        return "\n".join(map(escape_control_chars, lines))

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


class Listener:
    """Is told how a run goes on; derive from it, and override what you want to hear."""

    def on_start(self, total: int) -> None:
        """Take the number of runs, once, before the first."""

    def on_wait(self, description: str) -> None:
        """Take the description of a deployment that is waited for before the first run."""

    def on_case_start(self, name: str) -> None:
        """Take the name of a run that begins."""

    def on_case_end(self, result: EvalResult) -> None:
        """Take the result of a run that is done."""
