"""One round of runs: so many at a time, until all are done or something keeps the rest from being begun."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from .attempt import Attempt
from .halts import INTERRUPTED, Halts
from .plan import PlannedRun
from .readiness import Readiness, find_why_not_ready
from .results import EvalResult
from .targets import RemoteTarget, Target


class Listener(Protocol):
    """Is told how a run goes on."""

    def on_start(self, total: int) -> None:
        """Take the number of runs, once, before the first."""
        ...

    def on_wait(self, description: str) -> None:
        """Take the description of a deployment that is waited for before the first run."""
        ...

    def on_case_start(self, name: str) -> None:
        """Take the name of a run that begins."""
        ...

    def on_case_end(self, result: EvalResult) -> None:
        """Take the result of a run that is done."""
        ...


class Round:
    """Does planned runs by the attempts that `attempt_for` makes, and tells the `listener`; `halts` may end it."""

    def __init__(
        self,
        planned: Sequence[PlannedRun],
        attempt_for: Callable[[PlannedRun], Attempt],
        halts: Halts,
        listener: Listener | None,
    ) -> None:
        self._planned = planned
        self._waiting = iter(enumerate(planned))
        self._attempt_for = attempt_for
        self._halts = halts
        self._listener = listener
        self._results: dict[int, EvalResult] = {}

    @property
    def results(self) -> tuple[EvalResult, ...]:
        """The results in the order of the runs; one that was not begun is skipped, with the reason."""
        return tuple(self._results.get(index) or self._skip(one) for index, one in enumerate(self._planned))

    async def wait_for(self, targets: Sequence[Target], readiness: Readiness) -> None:
        """Wait until the deployments among the targets are ready; of one that does not become so, nothing is begun."""
        async with asyncio.TaskGroup() as group:
            for target in targets:
                if isinstance(target, RemoteTarget):
                    group.create_task(self._wait_for(target, readiness))

    async def run(self, concurrency: int) -> None:
        """Do the runs, `concurrency` at a time."""
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(self._planned))):
                group.create_task(self._work())

    async def _wait_for(self, target: RemoteTarget, readiness: Readiness) -> None:
        if self._listener:
            self._listener.on_wait(target.description)
        if why := await find_why_not_ready(target, readiness):
            self._halts.close(target, why)

    async def _work(self) -> None:
        for index, planned in self._waiting:
            attempt = self._attempt_for(planned)
            if self._halts.find_reason(attempt.target):
                continue
            if self._listener:
                self._listener.on_case_start(planned.name)
            result = self._results[index] = await self._run(attempt)
            if self._listener:
                self._listener.on_case_end(result)
            self._halts.note(planned, attempt.target, result)

    async def _run(self, attempt: Attempt) -> EvalResult:
        try:
            return await attempt.run()
        except asyncio.CancelledError:
            if self._halts.cut_by is None:
                raise
            return attempt.skip(self._halts.cut_by)

    def _skip(self, planned: PlannedRun) -> EvalResult:
        attempt = self._attempt_for(planned)
        return attempt.skip(self._halts.find_reason(attempt.target) or INTERRUPTED)
