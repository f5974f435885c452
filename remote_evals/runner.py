"""Runs evals with bounded concurrency and makes a report of them, in the order in which they were given."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any, Protocol

from ._version import __version__
from .attempt import Attempt
from .errors import UsageError
from .judging import Grader, Judge, make_judge
from .plan import PlannedRun, Runnable, as_evals, plan_runs
from .results import CaseError, EvalReport, EvalResult
from .rubrics import Rubrics
from .targets import Target, make_target

_INTERRUPTED = CaseError(code="INTERRUPTED", message="not done when the run was interrupted")
_FAILED_FAST = CaseError(code="FAILED_FAST", message="not run, since a case before it did not pass")


class Listener(Protocol):
    """Is told how a run goes on."""

    def on_start(self, total: int) -> None:
        """Take the number of runs, once, before the first."""
        ...

    def on_case_start(self, name: str) -> None:
        """Take the name of a run that begins."""
        ...

    def on_case_end(self, result: EvalResult) -> None:
        """Take the result of a run that is done."""
        ...


class EvalRunner:
    """Runs evals and cases, `concurrency` of them at a time.

    `target`, or the in-process `agent`, comes before the evals' own. `judge` grades rubrics: a `Judge` or a callable
    `(rubric, request, reply)`; `judging` False skips them instead. A run takes at most `timeout_s` seconds unless its
    eval says otherwise; 0 sets no limit. With `strict`, a failed soft assertion fails its case. `runs` comes before
    the evals' own `repeat`; `fail_fast` starts nothing more once a case cannot pass.
    """

    def __init__(
        self,
        target: Target | None = None,
        *,
        agent: Any = None,
        judge: Judge | Grader | None = None,
        judging: bool = True,
        concurrency: int = 4,
        timeout_s: float = 600.0,
        strict: bool = False,
        runs: int | None = None,
        fail_fast: bool = False,
        listener: Listener | None = None,
    ) -> None:
        if concurrency < 1:
            raise UsageError(f"concurrency must be at least 1, got {concurrency}")
        if runs is not None and runs < 1:
            raise UsageError(f"runs must be at least 1, got {runs}")
        self._target = target or (None if agent is None else make_target(agent))
        self._judge = None if judge is None else make_judge(judge)
        self._judging = judging
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._strict = strict
        self._runs = runs
        self._fail_fast = fail_fast
        self._listener = listener
        self._workers: list[asyncio.Task[None]] = []
        self._stopped_by: CaseError | None = None
        self._misses: Counter[int] = Counter()

    def stop(self) -> None:
        """Stop sending: cases under way are abandoned, and `arun` returns the report of what is done."""
        self._stopped_by = _INTERRUPTED
        for worker in self._workers:
            worker.cancel()

    def run(self, runnables: Runnable | Iterable[Runnable]) -> EvalReport:
        """Run evals and cases to their end, as `arun` does; also inside a running event loop, which it blocks."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.arun(runnables))
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(self.arun(runnables))).result()

    async def arun(self, runnables: Runnable | Iterable[Runnable]) -> EvalReport:
        """Run every eval and case and return the report; one that cannot be judged never stops the others.

        Raises `UsageError` when one has no target.
        """
        if self._stopped_by is _FAILED_FAST:
            self._stopped_by = None
        self._misses.clear()
        planned = plan_runs(as_evals(runnables), self._runs)
        targets = self._targets(planned)
        started_at, start = datetime.now(UTC), time.perf_counter()
        if self._listener:
            self._listener.on_start(len(planned))
        async with AsyncExitStack() as stack:
            for target in targets:
                await stack.enter_async_context(target)
            for judge in self._judges(planned):
                await stack.enter_async_context(judge)
                for target in targets:
                    target.redactor.include(getattr(judge, "redactor", None))
            results = await self._run_all(planned)
        why = self._stopped_by or _INTERRUPTED
        return EvalReport(
            tool_version=__version__,
            started_at=started_at.isoformat(timespec="milliseconds"),
            target=", ".join(dict.fromkeys(target.description for target in targets)),
            duration_ms=(time.perf_counter() - start) * 1000,
            results=tuple(results.get(index) or self._attempt(one).skip(why) for index, one in enumerate(planned)),
            interrupted=self._stopped_by is _INTERRUPTED,
        )

    def _targets(self, planned: Sequence[PlannedRun]) -> list[Target]:
        targets = [self._target or run.eval.target for run in planned]
        if None in targets:
            raise UsageError(f"the eval {planned[targets.index(None)].eval.name!r} has no target to run against")
        return list(dict.fromkeys(target for target in targets if target))

    def _judges(self, planned: Sequence[PlannedRun]) -> list[Judge]:
        judges = [self._judge or run.eval.judge for run in planned] if self._judging else []
        return list(dict.fromkeys(judge for judge in judges if judge))

    async def _run_all(self, planned: Sequence[PlannedRun]) -> dict[int, EvalResult]:
        results: dict[int, EvalResult] = {}
        waiting = iter(enumerate(planned))
        async with asyncio.TaskGroup() as group:
            count = 0 if self._stopped_by else min(self._concurrency, len(planned))
            self._workers = [group.create_task(self._work(waiting, results)) for _ in range(count)]
        return results

    async def _work(self, waiting: Iterator[tuple[int, PlannedRun]], results: dict[int, EvalResult]) -> None:
        for index, planned in waiting:
            if self._stopped_by:
                return
            if self._listener:
                self._listener.on_case_start(planned.name)
            result = results[index] = await self._run_case(planned)
            if self._listener:
                self._listener.on_case_end(result)
            if self._fail_fast and not result.passed:
                self._note_miss(planned)

    def _note_miss(self, planned: PlannedRun) -> None:
        """Start nothing more once too many runs of a case have missed for it to pass."""
        self._misses[id(planned.eval)] += 1
        count = self._runs or planned.eval.repeat or 1
        if self._misses[id(planned.eval)] > count - (planned.pass_at or count) and not self._stopped_by:
            self._stopped_by = _FAILED_FAST

    async def _run_case(self, planned: PlannedRun) -> EvalResult:
        attempt = self._attempt(planned)
        try:
            return await attempt.run()
        except asyncio.CancelledError:
            if self._stopped_by is not _INTERRUPTED:
                raise
            return attempt.skip(_INTERRUPTED)

    def _attempt(self, planned: PlannedRun) -> Attempt:
        target = self._target or planned.eval.target
        assert target is not None  # noqa: S101 - `_targets` has refused an eval without one
        limit_s = self._timeout_s if planned.eval.timeout_s is None else planned.eval.timeout_s
        rubrics = Rubrics(self._judge or planned.eval.judge, is_asked=self._judging)
        return Attempt(planned, target, rubrics, limit_s=limit_s or None, strict=self._strict)
