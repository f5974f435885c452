"""Deployments that refused the token, so that knocking again is of no use."""

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

_REFUSED = CaseError(code="TOKEN_REFUSED", message="not run, since the deployment refused the token")


class RefusedTargets:
    """The targets that refused the token."""

    def __init__(self) -> None:
        self._targets: set[Target] = set()

    def note(self, target: Target, result: EvalResult) -> None:
        """Take a result of a target: any other case would meet the same 401; a 403 may be for one prompt alone."""
        if result.error and (result.error.code, result.error.status) == (RemoteUnauthorizedError.code, 401):
            self._targets.add(target)

    def find(self, target: Target) -> CaseError | None:
        """Return why no more cases are sent to a target, None for one that has not refused the token."""
        return _REFUSED if target in self._targets else None


INTERRUPTED = CaseError(code="INTERRUPTED", message="not done when the run was interrupted")
_FAILED_FAST = CaseError(code="FAILED_FAST", message="not run, since a case before it did not pass")


class StopConditions:
    """Of one run of a suite: why no more cases are begun, none at all or none of a target, and what was cancelled.

    `cancelled_by` is why what was under way was abandoned, None as long as nothing was. With `fail_fast`, no case is
    begun once one cannot pass.
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
        """Return why no more cases of a target are begun, None while they are."""
        return self._refused.find(target) or self._stopped_targets.get(target) or self._stopped_by

    def record(self, planned: PlannedRun, target: Target, result: EvalResult) -> None:
        """Draw the conclusions from the result of a run."""
        self._refused.note(target, result)
        if self._fail_fast and not result.passed:
            self._misses[planned.eval] += 1
            if self._misses[planned.eval] > planned.spare:
                self._stopped_by = self._stopped_by or _FAILED_FAST

    def stop_target(self, target: Target, why: CaseError) -> None:
        """Begin no more cases of a target; what is under way goes on."""
        self._stopped_targets[target] = why

    def cancel_all(self, why: CaseError) -> None:
        """Begin nothing more, and abandon what is under way."""
        if self.cancelled_by:
            return
        self.cancelled_by = why
        self._stopped_by = self._stopped_by or why
        if self._task:
            self._task.cancel()

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Let `cancel_all` end the block, which runs in this task; a cancellation from outside goes through."""
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
        """Cancel all once so many seconds are over; 0 sets no limit."""
        message = f"not done within {render_duration(limit_s)}, the limit of the whole run (--max-time)"
        why = CaseError(code="MAX_TIME", message=message)
        timer = asyncio.get_running_loop().call_later(limit_s, self.cancel_all, why) if limit_s else None
        try:
            yield
        finally:
            if timer:
                timer.cancel()
