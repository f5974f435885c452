"""Tracks what keeps cases from starting, or from finishing."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.durations import render_duration
from ..errors import RemoteUnauthorizedError
from ..evals.eval import Eval
from ..results import CaseError, EvalResult
from ..targets import Target
from .plan import PlannedRun

INTERRUPTED = CaseError(code="INTERRUPTED", message="not done when the run was interrupted")
_TOKEN_REFUSED = CaseError(code="TOKEN_REFUSED", message="not run, since the deployment refused the token")
_FAILED_FAST = CaseError(code="FAILED_FAST", message="not run, since a case before it did not pass")


class StopConditions:
    """Why a run of evals starts no more cases, of all targets or of one, and why it abandoned those in progress.

    `cancelled_by` is why the cases in progress were abandoned, or None if they were not. With `fail_fast`, no case
    starts once one cannot pass.
    """

    def __init__(self, *, fail_fast: bool) -> None:
        self.cancelled_by: CaseError | None = None
        self._fail_fast = fail_fast
        self._stopped_by: CaseError | None = None
        self._stopped_targets: dict[Target, CaseError] = {}
        self._refused = RefusedTargets()
        self._misses: Counter[Eval] = Counter()
        self._task: asyncio.Task[Any] | None = None

    def find_reason(self, target: Target) -> CaseError | None:
        """Return why no more cases of a target start, or None if they do."""
        return self._refused.find(target) or self._stopped_targets.get(target) or self._stopped_by

    def record(self, planned_run: PlannedRun, target: Target, result: EvalResult) -> None:
        """Update the conditions with the result of a run."""
        self._refused.record(target, result)
        if self._fail_fast and not result.passed:
            self._misses[planned_run.eval] += 1
            if self._misses[planned_run.eval] > planned_run.spare:
                self._stopped_by = self._stopped_by or _FAILED_FAST

    def stop_target(self, target: Target, why: CaseError) -> None:
        """Start no more cases of a target; those in progress continue."""
        self._stopped_targets[target] = why

    def cancel_all(self, why: CaseError) -> None:
        """Start no more cases, and abandon those in progress."""
        if self.cancelled_by:
            return
        self.cancelled_by = why
        self._stopped_by = self._stopped_by or why
        if self._task:
            self._task.cancel()

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Let `cancel_all` end the block, which runs in this task; a cancellation from outside is raised."""
        self._task = task = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if self.cancelled_by is None or (task and task.uncancel()):
                raise
        finally:
            self._task = None

    @contextmanager
    def limit_time(self, limit_s: float) -> Iterator[None]:
        """Cancel everything after `limit_s` seconds; 0 sets no limit."""
        message = f"not done within {render_duration(limit_s)}, the limit of the whole run (--max-time)"
        why = CaseError(code="MAX_TIME", message=message)
        timer = asyncio.get_running_loop().call_later(limit_s, self.cancel_all, why) if limit_s else None
        try:
            yield
        finally:
            if timer:
                timer.cancel()


class RefusedTargets:
    """The targets whose deployment rejected the token; the runner sends them nothing more."""

    def __init__(self) -> None:
        self._targets: set[Target] = set()

    def record(self, target: Target, result: EvalResult) -> None:
        """Record a result: after a 401 every other case would get the same; a 403 may concern one prompt alone."""
        if result.error and (result.error.code, result.error.status) == (RemoteUnauthorizedError.code, 401):
            self._targets.add(target)

    def find(self, target: Target) -> CaseError | None:
        """Return why no more cases are sent to a target, or None if it has not rejected the token."""
        return _TOKEN_REFUSED if target in self._targets else None
