"""Runs evals with bounded concurrency and returns a report of them, in the order in which they were given."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from itertools import product
from typing import Any

from .._version import __version__
from ..core.threads import run_without_joining_threads
from ..errors import UsageError
from ..evals.context import Rubrics
from ..judging import Grader, Judge, make_judge
from ..results import EvalReport
from ..results.report import Listener
from ..targets import RemoteTarget, Target, make_target
from .attempt import CaseAttempt
from .plan import PlannedRun, Runnable, as_evals, plan_runs
from .stopping import INTERRUPTED, StopConditions
from .verdict import FailurePolicy
from .workers import Readiness, WorkerPool, wait_for_targets


class EvalRunner:
    """Runs evals and cases, `concurrency` of them at a time.

    `target`, or the in-process `agent`, overrides the evals' own. `judge` grades rubrics: a `Judge` or a callable
    `(rubric, request, reply)`; with `judging` False, rubrics are skipped instead. A run takes at most `timeout_s`
    seconds unless its eval says otherwise, and all runs together, with the wait for `readiness`, at most `max_time_s`;
    0 sets no limit. With `strict`, a failed soft assertion fails its case; with `strict_protocol`, so does a protocol
    warning. `runs` overrides the evals' own `repeat`. With `fail_fast`, nothing more starts once a case cannot pass.
    No more cases start against a deployment that rejected the token.
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
        max_time_s: float = 0.0,
        readiness: Readiness | None = None,
        strict: bool = False,
        strict_protocol: bool = False,
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
        self._max_time_s = max_time_s
        self._readiness = readiness
        self._policy = FailurePolicy(soft=strict, protocol=strict_protocol)
        self._runs = runs
        self._fail_fast = fail_fast
        self._listener = listener or Listener()
        self._active_stops: set[StopConditions] = set()
        self._is_stopped = False

    def stop(self) -> None:
        """Stop for good: cases in progress are abandoned, and each `arun` returns the report of what is done."""
        self._is_stopped = True
        for stops in self._active_stops:
            stops.cancel_all(INTERRUPTED)

    def run(self, runnables: Runnable | Iterable[Runnable]) -> EvalReport:
        """Run evals and cases as `arun` does; also works inside a running event loop, which it blocks."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(run_without_joining_threads(self.arun(runnables)))
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(run_without_joining_threads(self.arun(runnables)))).result()

    async def arun(self, runnables: Runnable | Iterable[Runnable]) -> EvalReport:
        """Run every eval and case and return the report; a case that cannot be judged never stops the others.

        Raises `UsageError` if one of them has no target.
        """
        planned_runs = plan_runs(as_evals(runnables), self._runs)
        targets = self._collect_targets(planned_runs)
        if self._readiness and not any(isinstance(target, RemoteTarget) for target in targets):
            raise UsageError("there is no deployment to wait for (--wait, --expect-header); give its URL with --url")
        started_at, start = datetime.now(UTC), time.perf_counter()
        with self._open_stops() as stops:
            pool = WorkerPool(planned_runs, self._make_attempt, stops, self._listener)
            self._listener.on_start(len(planned_runs))
            with stops.limit_time(self._max_time_s):
                if not stops.cancelled_by:
                    await self._run_pool(pool, stops, targets, self._collect_judges(planned_runs))
        return EvalReport(
            tool_version=__version__,
            started_at=started_at.isoformat(timespec="milliseconds"),
            target=", ".join(dict.fromkeys(target.description for target in targets)),
            duration_ms=(time.perf_counter() - start) * 1000,
            results=pool.results,
            interrupted=stops.cancelled_by == INTERRUPTED,
        )

    def _collect_targets(self, planned_runs: Sequence[PlannedRun]) -> list[Target]:
        targets = [self._target or run.eval.target for run in planned_runs]
        if None in targets:
            raise UsageError(f"the eval {planned_runs[targets.index(None)].eval.name!r} has no target to run against")
        return list(dict.fromkeys(target for target in targets if target))

    def _collect_judges(self, planned_runs: Sequence[PlannedRun]) -> list[Judge]:
        judges = [self._judge or run.eval.judge for run in planned_runs] if self._judging else []
        return list(dict.fromkeys(judge for judge in judges if judge))

    @contextmanager
    def _open_stops(self) -> Iterator[StopConditions]:
        """Yield the stop conditions of a run, on which `stop` acts whether it is called before or during the run."""
        stops = StopConditions(fail_fast=self._fail_fast)
        if self._is_stopped:
            stops.cancel_all(INTERRUPTED)
        self._active_stops.add(stops)
        try:
            yield stops
        finally:
            self._active_stops.remove(stops)

    def _make_attempt(self, planned_run: PlannedRun) -> CaseAttempt:
        target = self._target or planned_run.eval.target
        assert target is not None  # noqa: S101 - `_collect_targets` has rejected an eval without one
        limit_s = self._timeout_s if planned_run.eval.timeout_s is None else planned_run.eval.timeout_s
        return CaseAttempt(
            planned_run,
            target,
            Rubrics(self._judge or planned_run.eval.judge, is_asked=self._judging),
            limit_s=limit_s or None,
            policy=self._policy,
        )

    async def _run_pool(
        self, pool: WorkerPool, stops: StopConditions, targets: Sequence[Target], judges: Sequence[Judge]
    ) -> None:
        async with AsyncExitStack() as stack:
            with stops.cancellable():
                for target in targets:
                    await stack.enter_async_context(target)
                for judge in judges:
                    await stack.enter_async_context(judge)
                for target, judge in product(targets, judges):
                    target.redactor.include(getattr(judge, "redactor", None))
                if self._readiness:
                    await wait_for_targets(targets, self._readiness, stops, self._listener)
                await pool.run(self._concurrency)
