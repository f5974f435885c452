"""Why cases were skipped or could not be judged, and which of them share a reason, so that it need be told only once.

Messages that differ by nothing but the ids of their own session and traces are one reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..results import CaseError, CaseResult, EvalResult

_FAILED_FAST = "FAILED_FAST"


@dataclass(frozen=True, slots=True)
class Skip:
    """Cases that were skipped for one reason, `under_way` of them cut off after something was sent."""

    error: CaseError
    cases: int
    under_way: int

    def __str__(self) -> str:
        under_way = f", {self.under_way} under way" if self.under_way else ""
        return f"{self.cases} case{'' if self.cases == 1 else 's'} skipped{under_way}"


class LastReason:
    """The reason that was told last, so that the runs behind it need not tell it again."""

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None

    def is_that_of(self, run: EvalResult) -> bool:
        """Say whether the next run has the same reason and no other, and take its own for the last one told."""
        if run.passed:
            return False
        before, self._key = self._key, _identify(run) if run.error and not run.failures else None
        return self._key is not None and self._key == before


def list_skips(cases: Iterable[CaseResult]) -> list[Skip]:
    """Return why cases were skipped, each reason once, in the order of their first cases."""
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in cases:
        if case.status == "skipped":
            groups.setdefault(_identify(find_decisive(case)), []).append(case)
    return [
        Skip(error_of(find_decisive(group[0])), len(group), sum(any(map(is_under_way, case.runs)) for case in group))
        for group in groups.values()
    ]


def find_decisive(case: CaseResult) -> EvalResult:
    """Return the run that says why a case ended as it did."""
    runs = [run for run in case.runs if run.status == case.status] or case.runs
    return next((run for run in runs if not is_asked_for(error_of(run))), runs[0])


def is_asked_for(error: CaseError) -> bool:
    """Say whether somebody asked, by --fail-fast, for cases to be skipped; the one that did not pass is red itself."""
    return error.code == _FAILED_FAST


def is_under_way(run: EvalResult) -> bool:
    """Say whether a run was cut off after something was sent."""
    return run.status == "skipped" and bool(run.turns)


def error_of(run: EvalResult) -> CaseError:
    """Return why a run was skipped or could not be judged, also where it does not say."""
    if run.error:
        return run.error
    code, message = ("SKIPPED", "not run") if run.status == "skipped" else ("ERROR", "the case could not be judged")
    return CaseError(code=code, message=message)


def _identify(run: EvalResult) -> tuple[str, str]:
    error = error_of(run)
    message = error.message
    for own in filter(None, (run.session_id, *(turn.trace_id for turn in (run.run, *run.turns)))):
        message = message.replace(own, "…")
    return error.code, message
