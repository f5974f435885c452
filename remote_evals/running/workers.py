"""Workers that share the planned runs: so many at a time, until all are done or something stops the rest."""

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
    """Does planned runs by the attempts that `attempt_for` makes, and tells the `listener`; `stops` may end it."""

    def __init__(
        self,
        planned: Sequence[PlannedRun],
        attempt_for: Callable[[PlannedRun], CaseAttempt],
        stops: StopConditions,
        listener: Listener,
    ) -> None:
        self._planned = planned
        self._waiting = iter(enumerate(planned))
        self._attempt_for = attempt_for
        self._stops = stops
        self._listener = listener
        self._results: dict[int, EvalResult] = {}

    @property
    def results(self) -> tuple[EvalResult, ...]:
        """The results in the order of the runs; one that was not begun is skipped, with the reason."""
        return tuple(self._results.get(index) or self._skip(one) for index, one in enumerate(self._planned))

    async def run(self, concurrency: int) -> None:
        """Do the runs, `concurrency` at a time."""
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(self._planned))):
                group.create_task(self._work())

    async def _work(self) -> None:
        for index, planned in self._waiting:
            attempt = self._attempt_for(planned)
            if self._stops.find_reason(attempt.target):
                continue
            self._listener.on_case_start(planned.name)
            result = self._results[index] = await self._run(attempt)
            self._listener.on_case_end(result)
            self._stops.record(planned, attempt.target, result)

    async def _run(self, attempt: CaseAttempt) -> EvalResult:
        try:
            return await attempt.run()
        except asyncio.CancelledError:
            if self._stops.cancelled_by is None:
                raise
            return attempt.skip(self._stops.cancelled_by)

    def _skip(self, planned: PlannedRun) -> EvalResult:
        attempt = self._attempt_for(planned)
        return attempt.skip(self._stops.find_reason(attempt.target) or INTERRUPTED)


@dataclass(frozen=True, slots=True)
class Readiness:
    """How many seconds a deployment is waited for, 0 to ask it once, and the headers that its health must have."""

    wait_s: float
    expected_headers: Mapping[str, str] = field(default_factory=dict)


async def wait_for_targets(
    targets: Sequence[Target], readiness: Readiness, stops: StopConditions, listener: Listener
) -> None:
    """Wait until the deployments among the targets are ready; of one that does not become so, nothing is begun."""
    async with asyncio.TaskGroup() as group:
        for target in targets:
            if isinstance(target, RemoteTarget):
                group.create_task(_wait_for(target, readiness, stops, listener))


async def _wait_for(target: RemoteTarget, readiness: Readiness, stops: StopConditions, listener: Listener) -> None:
    listener.on_wait(target.description)
    try:
        await wait_until_ready(target, readiness.wait_s, readiness.expected_headers)
    except RemoteEvalsError as failure:
        stops.stop_target(target, explain_failure(failure, target))
