"""One attempt at one case: a fresh session, a `t`, the eval, and whatever happens as a value."""

import asyncio
import time

from ..errors import RemoteError, RemoteEvalsError
from ..evals.context import EvalContext, Rubrics
from ..results import AssertionResult, CaseError, EvalResult, RunResult, Status
from ..results.run import combine_runs
from ..targets import Target
from .plan import PlannedRun
from .verdict import (
    FailurePolicy,
    decide_status,
    explain_agent,
    explain_exception,
    explain_failure,
    explain_timeout,
    find_emptiness,
    find_forgotten_await,
    protocol_gates,
)

# So much later than the session's own clock, which can say more: what the last event was.
_GRACE_S = 0.25


class CaseAttempt:
    """A case that is run once against its `target`, in a session of its own, for at most `limit_s` seconds, if any."""

    def __init__(
        self, planned: PlannedRun, target: Target, rubrics: Rubrics, *, limit_s: float | None, strictness: FailurePolicy
    ) -> None:
        self._planned = planned
        self._eval = planned.eval
        self.target = target
        self._rubrics = rubrics
        self._limit_s = limit_s
        self._strictness = strictness
        self._t: EvalContext | None = None

    async def run(self) -> EvalResult:
        """Run the case and return its result; nothing but a cancellation from outside is raised."""
        started = time.perf_counter()
        grace_s = _GRACE_S if self.target.keeps_time else 0.0
        clock = asyncio.timeout(None if self._limit_s is None else self._limit_s + grace_s)
        try:
            async with clock, self.target.open_session(self._limit_s) as session:
                self._t = EvalContext(session, self._rubrics, self.target.redactor)
                error = await self._run_eval(self._t, clock)
        except RemoteEvalsError as failure:
            error = explain_failure(failure, self.target)
        except (Exception, SystemExit) as failure:  # what makes an agent, or takes it down, is somebody's code too
            error = self._explain_timeout() if clock.expired() else explain_agent(failure, self.target)
        if error is None and self._limit_s is not None and time.perf_counter() - started > self._limit_s + grace_s:
            # Code that blocks the event loop stops its clocks too.
            error = self._explain_timeout()
        return self._make_result(*self._reach_verdict(error))

    def skip(self, why: CaseError) -> EvalResult:
        """Return the result of a case that was not run, or not to its end: what there is of it is kept.

        It is skipped, unless it had failed by then.
        """
        status, _ = self._reach_verdict(why)
        return self._make_result("failed" if status == "failed" else "skipped", why)

    async def _run_eval(self, t: EvalContext, clock: asyncio.Timeout) -> CaseError | None:
        try:
            await self._eval.run(t)
        except RemoteEvalsError as failure:
            is_own = self._eval.place and not isinstance(failure, RemoteError)
            return explain_failure(failure, self.target, f" (the eval at {self._eval.place})" if is_own else "")
        except BaseException as failure:
            # An eval that breaks is an error of its own case, never the end of the others, whatever it raises.
            if isinstance(failure, KeyboardInterrupt) or (_is_cancelled_from_outside(failure) and not clock.expired()):
                raise
            if clock.expired():
                return self._explain_timeout()
            return find_forgotten_await(t, self.target) or explain_exception(failure, self._eval, self.target)
        error = find_forgotten_await(t, self.target) or find_emptiness(t, self._eval)
        if error is None and all(made.skipped for made in t.assertions):
            # What was skipped has checked nothing; at least the end of the run is.
            t.completed()
        return error

    def _explain_timeout(self) -> CaseError:
        return explain_timeout(self._limit_s or 0, self._t.steps if self._t else (), self.target)

    @property
    def _turns(self) -> tuple[RunResult, ...]:
        return tuple(self._t.results) if self._t else ()

    @property
    def _assertions(self) -> tuple[AssertionResult, ...]:
        made = self._t.assertions if self._t else []
        return (*made, *(protocol_gates(self._turns) if self._strictness.protocol else []))

    def _reach_verdict(self, error: CaseError | None) -> tuple[Status, CaseError | None]:
        return decide_status(self._turns, self._assertions, error, self._strictness, self.target.description)

    def _make_result(self, status: Status, error: CaseError | None) -> EvalResult:
        return EvalResult(
            name=self._planned.name,
            case=self._eval.name,
            suite=self._eval.suite,
            file=self._eval.file,
            target=self.target.description,
            tags=self._eval.tags,
            metadata=dict(self._eval.metadata),
            status=status,
            session_id=self._t.session_id if self._t else None,
            run=combine_runs(self._turns),
            turns=self._turns,
            assertions=self._assertions,
            error=error,
            judged_score=self._t.judged_score if self._t else None,
            judge_usage=self._rubrics.usage,
            pass_at=self._planned.pass_at,
        )


def _is_cancelled_from_outside(failure: BaseException) -> bool:
    task = asyncio.current_task()
    return isinstance(failure, asyncio.CancelledError) and task is not None and task.cancelling() > 0
