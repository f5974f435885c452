"""Runs evals with bounded concurrency and makes a report of them, in the order in which they were given."""

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

    `target`, or the in-process `agent`, comes before the evals' own. `judge` grades rubrics: a `Judge` or a callable
    `(rubric, request, reply)`; `judging` False skips them instead. A run takes at most `timeout_s` seconds unless its
    eval says otherwise, and all of them, with the wait for `readiness`, at most `max_time_s`; 0 sets no limit. With
    `strict`, a failed soft assertion fails its case, and with `strict_protocol` whatever was odd in the protocol.
    `runs` comes before the evals' own `repeat`; `fail_fast` starts nothing more once a case cannot pass. Nor is
    anything more started against a deployment that refused the token.
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
        self._strictness = FailurePolicy(soft=strict, protocol=strict_protocol)
        self._runs = runs
        self._fail_fast = fail_fast
        self._listener = listener or Listener()
        self._under_way: set[StopConditions] = set()
        self._is_stopped = False

    def stop(self) -> None:
        """Stop sending, for good: cases under way are abandoned, and each `arun` returns the report of what is done."""
        self._is_stopped = True
        for stops in self._under_way:
            stops.cancel_all(INTERRUPTED)

    def run(self, runnables: Runnable | Iterable[Runnable]) -> EvalReport:
        """Run evals and cases to their end, as `arun` does; also inside a running event loop, which it blocks."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(run_without_joining_threads(self.arun(runnables)))
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(run_without_joining_threads(self.arun(runnables)))).result()

    async def arun(self, runnables: Runnable | Iterable[Runnable]) -> EvalReport:
        """Run every eval and case and return the report; one that cannot be judged never stops the others.

        Raises `UsageError` when one has no target.
        """
        planned = plan_runs(as_evals(runnables), self._runs)
        targets = self._targets(planned)
        if self._readiness and not any(isinstance(target, RemoteTarget) for target in targets):
            raise UsageError("there is no deployment to wait for (--wait, --expect-header); give its URL by --url")
        started_at, start = datetime.now(UTC), time.perf_counter()
        with self._stoppable() as stops:
            pool = WorkerPool(planned, self._attempt, stops, self._listener)
            self._listener.on_start(len(planned))
            with stops.limit_time(self._max_time_s):
                if not stops.cancelled_by:
                    await self._work(pool, stops, targets, self._judges(planned))
        return EvalReport(
            tool_version=__version__,
            started_at=started_at.isoformat(timespec="milliseconds"),
            target=", ".join(dict.fromkeys(target.description for target in targets)),
            duration_ms=(time.perf_counter() - start) * 1000,
            results=pool.results,
            interrupted=stops.cancelled_by == INTERRUPTED,
        )

    @contextmanager
    def _stoppable(self) -> Iterator[StopConditions]:
        """Yield what may end a run early: `stop` does, whether it comes meanwhile or came before."""
        stops = StopConditions(fail_fast=self._fail_fast)
        if self._is_stopped:
            stops.cancel_all(INTERRUPTED)
        self._under_way.add(stops)
        try:
            yield stops
        finally:
            self._under_way.remove(stops)

    async def _work(
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

    def _targets(self, planned: Sequence[PlannedRun]) -> list[Target]:
        targets = [self._target or run.eval.target for run in planned]
        if None in targets:
            raise UsageError(f"the eval {planned[targets.index(None)].eval.name!r} has no target to run against")
        return list(dict.fromkeys(target for target in targets if target))

    def _judges(self, planned: Sequence[PlannedRun]) -> list[Judge]:
        judges = [self._judge or run.eval.judge for run in planned] if self._judging else []
        return list(dict.fromkeys(judge for judge in judges if judge))

    def _attempt(self, planned: PlannedRun) -> CaseAttempt:
        target = self._target or planned.eval.target
        assert target is not None  # noqa: S101 - `_targets` has refused an eval without one
        limit_s = self._timeout_s if planned.eval.timeout_s is None else planned.eval.timeout_s
        return CaseAttempt(
            planned,
            target,
            Rubrics(self._judge or planned.eval.judge, is_asked=self._judging),
            limit_s=limit_s or None,
            strictness=self._strictness,
        )
