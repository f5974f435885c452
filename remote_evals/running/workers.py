"""Workers that share the planned runs, a limited number at a time, until all are done or the rest is stopped.

Also waits for the deployments that must be ready before the first case is sent to them.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import RemoteEvalsError
from ..results import EvalResult
from ..results.report import Listener
from ..targets import RemoteTarget, Target, wait_until_ready
from .attempt import CaseAttempt
from .plan import PlannedRun
from .stopping import INTERRUPTED, StopConditions
from .verdict import explain_failure


class WorkerPool:
    """Runs the planned runs by the attempts that `make_attempt` returns, and notifies the `listener`.

    `stops` decides which runs still start.
    """

    def __init__(
        self,
        planned_runs: Sequence[PlannedRun],
        make_attempt: Callable[[PlannedRun], CaseAttempt],
        stops: StopConditions,
        listener: Listener,
    ) -> None:
        self._planned_runs = planned_runs
        self._waiting = iter(enumerate(planned_runs))
        self._make_attempt = make_attempt
        self._stops = stops
        self._listener = listener
        self._results: dict[int, EvalResult] = {}

    @property
    def results(self) -> tuple[EvalResult, ...]:
        """The results in the order of the planned runs; a run that did not start is skipped, with the reason."""
        return tuple(self._results.get(index) or self._skip(run) for index, run in enumerate(self._planned_runs))

    async def run(self, concurrency: int) -> None:
        """Run them, `concurrency` at a time."""
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(self._planned_runs))):
                group.create_task(self._work())

    async def _work(self) -> None:
        for index, planned_run in self._waiting:
            attempt = self._make_attempt(planned_run)
            if self._stops.find_reason(attempt.target):
                continue
            self._listener.on_case_start(planned_run.name)
            result = self._results[index] = await self._run_attempt(attempt)
            self._listener.on_case_end(result)
            self._stops.record(planned_run, attempt.target, result)

    async def _run_attempt(self, attempt: CaseAttempt) -> EvalResult:
        try:
            return await attempt.run()
        except asyncio.CancelledError:
            if self._stops.cancelled_by is None:
                raise
            return attempt.skip(self._stops.cancelled_by)

    def _skip(self, planned_run: PlannedRun) -> EvalResult:
        attempt = self._make_attempt(planned_run)
        return attempt.skip(self._stops.find_reason(attempt.target) or INTERRUPTED)


@dataclass(frozen=True, slots=True)
class Readiness:
    """How many seconds to wait for a deployment, 0 to ask it once, and the headers that its health must have."""

    wait_s: float
    expected_headers: Mapping[str, str] = field(default_factory=dict)


async def wait_for_targets(
    targets: Sequence[Target], readiness: Readiness, stops: StopConditions, listener: Listener
) -> None:
    """Wait until the deployments among the targets are ready; no case of one that does not get ready starts."""
    async with asyncio.TaskGroup() as group:
        for target in targets:
            if isinstance(target, RemoteTarget):
                group.create_task(_wait_for_target(target, readiness, stops, listener))


async def _wait_for_target(
    target: RemoteTarget, readiness: Readiness, stops: StopConditions, listener: Listener
) -> None:
    listener.on_wait(target.description)
    try:
        await wait_until_ready(target, readiness.wait_s, readiness.expected_headers)
    except RemoteEvalsError as failure:
        stops.stop_target(target, explain_failure(failure, target))
