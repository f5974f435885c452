"""What keeps cases from being begun, or from coming to their end."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .durations import render_duration
from .errors import RemoteUnauthorizedError
from .plan import PlannedRun
from .results import CaseError, EvalResult
from .targets import Target

INTERRUPTED = CaseError(code="INTERRUPTED", message="not done when the run was interrupted")
TOKEN_REFUSED = CaseError(code="TOKEN_REFUSED", message="not run, since the deployment refused the token")
_FAILED_FAST = CaseError(code="FAILED_FAST", message="not run, since a case before it did not pass")


class Halts:
    """Of one run of a suite: why no more cases are begun, none at all or none of a target, and what was cut off.

    `cut_by` is why what was under way was abandoned, None as long as nothing was. With `fail_fast`, no case is begun
    once one cannot pass.
    """

    def __init__(self, *, fail_fast: bool) -> None:
        self.cut_by: CaseError | None = None
        self._fail_fast = fail_fast
        self._of_all: CaseError | None = None
        self._of_targets: dict[Target, CaseError] = {}
        self._misses: Counter[int] = Counter()
        self._cuttable: asyncio.Task[Any] | None = None

    def find_reason(self, target: Target) -> CaseError | None:
        """Return why no more cases of a target are begun, None while they are."""
        return self._of_targets.get(target) or self._of_all

    def close(self, target: Target, why: CaseError) -> None:
        """Begin no more cases of a target; what is under way goes on."""
        self._of_targets.setdefault(target, why)

    def cut(self, why: CaseError) -> None:
        """Begin nothing more, and abandon what is under way."""
        if self.cut_by:
            return
        self.cut_by = why
        self._of_all = self._of_all or why
        if self._cuttable:
            self._cuttable.cancel()

    @contextmanager
    def cuttable(self) -> Iterator[None]:
        """End the block of this task at a cut, as at a cancellation; one from outside goes through."""
        self._cuttable = task = asyncio.current_task()
        try:
            yield
        except asyncio.CancelledError:
            if self.cut_by is None or (task and task.uncancel()):
                raise
        finally:
            self._cuttable = None

    @contextmanager
    def limit_time(self, limit_s: float) -> Iterator[None]:
        """Cut once so many seconds are over; 0 sets no limit."""
        message = f"not done within {render_duration(limit_s)}, the limit of the whole run (--max-time)"
        why = CaseError(code="MAX_TIME", message=message)
        timer = asyncio.get_running_loop().call_later(limit_s, self.cut, why) if limit_s else None
        try:
            yield
        finally:
            if timer:
                timer.cancel()

    def note(self, planned: PlannedRun, target: Target, result: EvalResult) -> None:
        """Draw the conclusions from the result of a run."""
        if result.error and is_token_refused(result.error):
            self.close(target, TOKEN_REFUSED)
        if self._fail_fast and not result.passed:
            self._misses[id(planned.eval)] += 1
            if self._misses[id(planned.eval)] > planned.spare:
                self._of_all = self._of_all or _FAILED_FAST


def is_token_refused(error: CaseError) -> bool:
    """Say whether every other case would meet the same refusal: a 401 does; a 403 may be for one prompt alone."""
    return error.code == RemoteUnauthorizedError.code and error.status == 401
