"""The report of all cases, the outcome of one case over all of its runs, and the listener that follows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from ..core.text import escape_control_chars
from .case import EvalResult, JudgeUsage, Status
from .data import Data

_MARKS: dict[Status, str] = {"passed": "PASS", "failed": "FAIL", "error": "ERROR", "skipped": "SKIP"}


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean, the least and the greatest of some numbers."""

    mean: float
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case and its runs, at least one, each in a session of its own.

    The case passes if `needed` of its runs do. It is flaky if only some of its runs pass, whether it passes or not.
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
        """Passed if enough runs passed; failed if too many failed for that, regardless of the other runs."""
        if self.passed_runs >= self.needed:
            return "passed"
        statuses = [run.status for run in self.runs]
        if len(self.runs) - statuses.count("failed") < self.needed:
            return "failed"
        return "error" if "error" in statuses else "skipped"

    @property
    def is_flaky(self) -> bool:
        """Whether some runs passed and others did not; skipped runs do not count."""
        return 0 < self.passed_runs < len(self._executed_runs)

    @property
    def rate(self) -> str:
        """How many of the runs passed: "2/3"."""
        return f"{self.passed_runs}/{len(self.runs)}"

    @property
    def score(self) -> Spread:
        """The scores of the runs, from 0 to 1."""
        return _measure_spread([run.score for run in self._executed_runs])

    @property
    def duration_ms(self) -> Spread:
        """The times of the runs, in milliseconds."""
        return _measure_spread([run.duration_ms for run in self._executed_runs])

    @property
    def _executed_runs(self) -> list[EvalResult]:
        """The runs that were not skipped."""
        return [run for run in self.runs if run.status != "skipped"]


class EvalReport(Data):
    """Every run of every case, in the order of the files. `duration_ms` is wall-clock time.

    `target` is the URL of the deployment without userinfo and query. `started_at` is ISO 8601 in UTC.
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
        return _group_runs(self.results)

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
        """How many cases failed, without those that could not be judged."""
        return self.count("failed")

    def count(self, status: Status) -> int:
        """Return how many cases have this status over all of their runs."""
        return sum(case.status == status for case in self.cases)

    @property
    def pass_rate(self) -> float:
        """The share of runs that passed, from 0 to 1; 0 if there were none, never a silent 1."""
        return sum(result.passed for result in self.results) / len(self.results) if self.results else 0.0

    @property
    def avg_score(self) -> float:
        """The mean score of all runs; 0 if there were none."""
        return sum(result.score for result in self.results) / len(self.results) if self.results else 0.0

    @property
    def total_duration_ms(self) -> float:
        """The wall-clock time of the whole report, in milliseconds."""
        return self.duration_ms

    @property
    def soft_failed(self) -> int:
        """How many soft assertions failed."""
        return sum(len(result.failed("soft")) for result in self.results)

    @property
    def protocol_warnings(self) -> int:
        """How many warnings the streams of all runs gave."""
        return sum(len(result.run.warnings) for result in self.results)

    @property
    def retries(self) -> int:
        """How many requests were sent again, over all runs."""
        return sum(result.run.retries for result in self.results)

    @property
    def steps(self) -> int:
        """The number of steps of all runs."""
        return sum(result.run.steps for result in self.results)

    @property
    def total_tokens(self) -> int | None:
        """The tokens of all runs that reported any; None if none did."""
        known = [result.run.usage.total_tokens for result in self.results if result.run.usage]
        return sum(known) if known else None

    @property
    def cost_usd(self) -> float | None:
        """The dollars of all runs that reported a cost; None if none did."""
        usages = [result.run.usage for result in self.results if result.run.usage]
        known = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        return fsum(known) if known else None

    @property
    def judge_usage(self) -> JudgeUsage | None:
        """What judging used, which the agent's own usage does not include; None if no judge was asked."""
        known = [result.judge_usage for result in self.results if result.judge_usage]
        return sum(known[1:], known[0]) if known else None

    def summary(self) -> str:
        """Return the report as plain text: a line for each run, and below it a line for each check that failed.

        Nothing in it acts on a terminal, even if an agent sent escape sequences.
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


class Listener:
    """Receives the progress of a run; subclass it and override the methods you need."""

    def on_start(self, total: int) -> None:
        """Receive the total number of runs, once, before the first begins."""

    def on_wait(self, description: str) -> None:
        """Receive the description of a deployment that must become ready before the first run."""

    def on_case_start(self, name: str) -> None:
        """Receive the name of a run that begins."""

    def on_case_end(self, result: EvalResult) -> None:
        """Receive the result of a run that has ended."""


def _group_runs(results: Sequence[EvalResult]) -> tuple[CaseResult, ...]:
    """Return the cases of the results; the runs of a case follow one another, from `#1` on."""
    cases: list[list[EvalResult]] = []
    for result in results:
        if result.name == result.case or result.name == f"{result.case} #1" or not cases:
            cases.append([])
        cases[-1].append(result)
    return tuple(CaseResult(tuple(runs)) for runs in cases)


def _measure_spread(numbers: Sequence[float]) -> Spread:
    return Spread(sum(numbers) / len(numbers), min(numbers), max(numbers)) if numbers else Spread(0.0, 0.0, 0.0)
