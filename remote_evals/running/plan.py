"""Plans what is run: evals from any source, and each as often as it should be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..errors import UsageError
from ..evals.eval import Eval, find_repeat_problem


@runtime_checkable
class MakesEvals(Protocol):
    """A case as data or an eval in code, which evals are made from."""

    def make_evals(self) -> list[Eval]:
        """Return its evals."""
        ...


Runnable = Eval | MakesEvals


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of an eval: the name of its row, and how many of the eval's runs must pass, or None for all.

    `spare` is how many of the eval's runs may fail.
    """

    eval: Eval
    name: str
    pass_at: int | None
    spare: int = 0


def as_evals(runnables: Runnable | Iterable[Runnable]) -> list[Eval]:
    """Return the evals of cases as data, evals in code and evals, alone or in any mixture."""
    if isinstance(runnables, Eval):
        return [runnables]
    if isinstance(runnables, MakesEvals):
        return runnables.make_evals()
    return [eval_ for runnable in runnables for eval_ in as_evals(runnable)]


def plan_runs(evals: Sequence[Eval], runs: int | None = None) -> list[PlannedRun]:
    """Return every run of the evals, those of one eval together; `runs` overrides the `repeat` of each eval.

    If that makes fewer runs than must pass, all of them must pass. Raises `UsageError` for two evals with the same
    name, and for an eval that can never pass.
    """
    _check_evals(evals)
    return [run for eval_ in evals for run in _plan_eval(eval_, runs or eval_.repeat or 1)]


def _check_evals(evals: Sequence[Eval]) -> None:
    seen: set[tuple[str, str, str]] = set()
    for eval_ in evals:
        if problem := find_repeat_problem(eval_.repeat, eval_.pass_at):
            raise UsageError(f"the case {eval_.name!r}: {problem}")
        identity = (eval_.file, eval_.suite, eval_.name)
        if identity in seen:
            raise UsageError(f"two cases are named {eval_.name!r}; give each its own name")
        seen.add(identity)


def _plan_eval(eval_: Eval, count: int) -> list[PlannedRun]:
    if count == 1:
        return [PlannedRun(eval_, eval_.name, None)]
    pass_at = None if eval_.pass_at is None else min(eval_.pass_at, count)
    spare = count - (pass_at or count)
    return [PlannedRun(eval_, f"{eval_.name} #{number}", pass_at, spare) for number in range(1, count + 1)]
