"""One attempt at one case: a fresh session, a `t`, and the eval. Whatever happens is returned as a result."""

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
    find_empty_eval,
    find_forgotten_await,
    make_protocol_gates,
)

# The session's own timer runs out first, since it can say more: what the last event was.
_GRACE_S = 0.25


class CaseAttempt:
    """Runs a case once against its `target`, in a session of its own, for at most `limit_s` seconds, if any."""

    def __init__(
        self,
        planned_run: PlannedRun,
        target: Target,
        rubrics: Rubrics,
        *,
        limit_s: float | None,
        policy: FailurePolicy,
    ) -> None:
        self.target = target
        self._planned_run = planned_run
        self._eval = planned_run.eval
        self._rubrics = rubrics
        self._limit_s = limit_s
        self._policy = policy
        self._t: EvalContext | None = None

    async def run(self) -> EvalResult:
        """Run the case and return its result. Only a cancellation from outside, or Ctrl-C, is raised."""
        started = time.perf_counter()
        grace_s = _GRACE_S if self.target.keeps_time else 0.0
        timer = asyncio.timeout(None if self._limit_s is None else self._limit_s + grace_s)
        try:
            async with timer, self.target.open_session(self._limit_s) as session:
                self._t = EvalContext(session, self._rubrics, self.target.redactor)
                error = await self._run_eval(self._t, timer)
        except RemoteEvalsError as failure:
            error = explain_failure(failure, self.target)
        except (Exception, SystemExit) as failure:  # a user's code makes an agent and takes it down
            error = self._explain_timeout() if timer.expired() else explain_agent(failure, self.target)
        if error is None and self._limit_s is not None and time.perf_counter() - started > self._limit_s + grace_s:
            # Code that blocks the event loop blocks its timers too.
            error = self._explain_timeout()
        return self._make_result(*self._decide_status(error))

    def skip(self, why: CaseError) -> EvalResult:
        """Return the result of a case that was not run, or not to its end, with what is known of it.

        It is skipped, unless it had already failed.
        """
        status, _ = self._decide_status(why)
        return self._make_result("failed" if status == "failed" else "skipped", why)

    async def _run_eval(self, t: EvalContext, timer: asyncio.Timeout) -> CaseError | None:
        try:
            await self._eval.run(t)
        except RemoteEvalsError as failure:
            is_own = self._eval.place and not isinstance(failure, RemoteError)
            return explain_failure(failure, self.target, f" (the eval at {self._eval.place})" if is_own else "")
        except BaseException as failure:
            # An eval that breaks is an error of its own case and never ends the others, whatever it raises.
            if isinstance(failure, KeyboardInterrupt) or (_is_cancelled_from_outside(failure) and not timer.expired()):
                raise
            if timer.expired():
                return self._explain_timeout()
            return find_forgotten_await(t, self.target) or explain_exception(failure, self._eval, self.target)
        error = find_forgotten_await(t, self.target) or find_empty_eval(t, self._eval)
        if error is None and all(result.skipped for result in t.assertions):
            # Skipped assertions checked nothing, so at least the end of the run is checked.
            t.completed()
        return error

    def _explain_timeout(self) -> CaseError:
        return explain_timeout(self._limit_s or 0, self._t.pending_calls if self._t else (), self.target)

    @property
    def _turns(self) -> tuple[RunResult, ...]:
        return tuple(self._t.results) if self._t else ()

    @property
    def _assertions(self) -> tuple[AssertionResult, ...]:
        results = self._t.assertions if self._t else []
        return (*results, *(make_protocol_gates(self._turns) if self._policy.protocol else []))

    def _decide_status(self, error: CaseError | None) -> tuple[Status, CaseError | None]:
        return decide_status(self._turns, self._assertions, error, self._policy, self.target.description)

    def _make_result(self, status: Status, error: CaseError | None) -> EvalResult:
        return EvalResult(
            name=self._planned_run.name,
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
            case_warnings=tuple(self._t.case_warnings) if self._t else (),
            error=error,
            judged_score=self._t.judged_score if self._t else None,
            judge_usage=self._rubrics.usage,
            pass_at=self._planned_run.pass_at,
        )


def _is_cancelled_from_outside(failure: BaseException) -> bool:
    task = asyncio.current_task()
    return isinstance(failure, asyncio.CancelledError) and task is not None and task.cancelling() > 0
