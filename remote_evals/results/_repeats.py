"""The outcome of one case over all of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from ._case import EvalResult, Status


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
