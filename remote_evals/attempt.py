"""One attempt at one case: a fresh session, a `t`, the eval, and whatever happens as a value."""

import asyncio
import time
import traceback
from typing import Any

from .assertions import protocol_kept
from .awaited import Step
from .context import EvalContext
from .conversation import combine_runs
from .durations import render_duration
from .errors import RemoteError, RemoteEvalsError, RemoteStreamError, describe_error
from .plan import PlannedRun
from .results import AssertionResult, CaseError, EvalResult, Status
from .rubrics import Rubrics
from .targets import Target

# So much later than the session's own clock, which can say more: what the last event was.
_GRACE_S = 0.25


class Attempt:
    """A case that is run once against its `target`, in a session of its own.

    It may take `limit_s` seconds, any number for None. With `strict`, a failed soft assertion fails it, and with
    `strict_protocol` whatever was odd in the protocol of its turns.
    """

    def __init__(
        self,
        planned: PlannedRun,
        target: Target,
        rubrics: Rubrics,
        *,
        limit_s: float | None,
        strict: bool,
        strict_protocol: bool,
    ) -> None:
        self._planned = planned
        self._eval = planned.eval
        self.target = target
        self._rubrics = rubrics
        self._limit_s = limit_s
        self._strict = strict
        self._strict_protocol = strict_protocol
        self._t: EvalContext | None = None

    async def run(self) -> EvalResult:
        """Run the case and return its result; nothing but a cancellation from outside is raised."""
        started = time.perf_counter()
        grace_s = _GRACE_S if self.target.keeps_time else 0.0
        clock = asyncio.timeout(None if self._limit_s is None else self._limit_s + grace_s)
        try:
            async with clock, self.target.open_session(self._limit_s) as session:
                self._t = EvalContext(session, self._rubrics)
                error = await self._run_eval(self._t, clock)
        except RemoteEvalsError as failure:
            error = explain_failure(failure, self.target)
        except Exception as failure:  # what makes an agent, or takes it down, is somebody's code too
            text = f"the agent could not be had: {describe_error(failure)}"
            error = self._timed_out() if clock.expired() else CaseError(code="AGENT_FAILED", message=self._scrub(text))
        if error is None and self._limit_s is not None and time.perf_counter() - started > self._limit_s + grace_s:
            # Code that blocks the event loop stops its clocks too.
            error = self._timed_out()
        return self._result(self._decide_status(error), error or self._doubt)

    def skip(self, why: CaseError) -> EvalResult:
        """Return the result of a case that was not run, or not to its end: what there is of it is kept.

        It is skipped, unless a gate had failed by then.
        """
        return self._result("failed" if self._has_failed and not self._doubt else "skipped", why)

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
            return self._explain(failure, clock, t)
        if t.forgotten:
            return CaseError(code="EVAL_FAILED", message=self._scrub(_describe_forgotten(t.forgotten[0])))
        place = self._eval.place or self._eval.file or "this case"
        if not t.results:
            return CaseError(code="EVAL_EMPTY", message=f"the eval at {place} sent nothing")
        if not t.assertions:
            return CaseError(code="EVAL_EMPTY", message=f"the eval at {place} asserted nothing, so nothing was checked")
        if all(made.skipped for made in t.assertions):
            # What was skipped has checked nothing; at least the end of the run is.
            t.completed()
        return None

    def _explain(self, failure: BaseException, clock: asyncio.Timeout, t: EvalContext) -> CaseError | None:
        if clock.expired():
            return self._timed_out()
        text = f"the eval raised {describe_error(failure)}{_place_of(failure, self._eval.file)}"
        if isinstance(failure, AssertionError) and not str(failure):
            text = f"the eval's `assert` failed{_place_of(failure, self._eval.file)}; t.check(…) would show the values"
        if t.forgotten:
            text = _describe_forgotten(t.forgotten[0])
        return CaseError(code="EVAL_FAILED", message=self._scrub(text))

    def _timed_out(self) -> CaseError:
        limit = render_duration(self._limit_s or 0)
        steps = self._t.steps if self._t else []
        waited = f"{steps[-1].label} was the last thing it did" if steps else "it had sent nothing yet"
        text = f"the case was not done within {limit}; {waited}. What it waits for hangs, or its own code"
        return CaseError(code="CASE_TIMEOUT", message=self._scrub(text))

    def _scrub(self, text: str) -> str:
        return self.target.redactor.scrub(text)

    @property
    def _assertions(self) -> list[AssertionResult]:
        """What was asserted, and what the protocol's strictness adds to it."""
        if self._t is None:
            return []
        odd = [gate for turn in self._t.results for gate in protocol_kept(turn)] if self._strict_protocol else []
        return [*self._t.assertions, *odd]

    @property
    def _has_failed(self) -> bool:
        return any(not made.passed and (made.kind == "gate" or self._strict) for made in self._assertions)

    @property
    def _doubt(self) -> CaseError | None:
        """Why a failure may be that of the way and not the agent's, None for one that is the agent's."""
        turns = self._t.results if self._t and self._has_failed and not self._strict_protocol else []
        if not any("events" in turn.missing for turn in turns):
            return None
        happened = "events of the stream were lost on the way, so what failed may have been among them"
        advice = "Look for a proxy that drops events; the warnings say where they are missing"
        return CaseError(code=RemoteStreamError.code, message=f"{self.target.description}: {happened}. {advice}.")

    def _decide_status(self, error: CaseError | None) -> Status:
        if error and error.code == "EVAL_EMPTY" and not (self._t and self._t.results):
            return "error"
        # A gate that failed is known to have failed, whatever broke afterwards.
        if self._has_failed and not self._doubt:
            return "failed"
        return "error" if error or self._doubt else "passed"

    def _result(self, status: Status, error: CaseError | None) -> EvalResult:
        turns = tuple(self._t.results) if self._t else ()
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
            run=combine_runs(turns),
            turns=turns,
            assertions=tuple(self._assertions),
            error=error,
            judged_score=self._t.judged_score if self._t else None,
            judge_usage=self._rubrics.usage,
            pass_at=self._planned.pass_at,
        )


def explain_failure(failure: RemoteEvalsError, target: Target, place: str = "") -> CaseError:
    """Return a failure as why a case could not be judged, without secrets; `place` follows its message."""
    message = target.redactor.scrub(f"{failure}{place}")
    return CaseError(code=failure.code, message=message, status=getattr(failure, "status", None))


def _is_cancelled_from_outside(failure: BaseException) -> bool:
    task = asyncio.current_task()
    return isinstance(failure, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _place_of(failure: BaseException, file: str) -> str:
    """Return where in the eval's own file an error was raised, or was passed on last; nothing for other files."""
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if frame.filename.endswith(file)]
    return f" ({file}:{frames[-1].lineno})" if file and frames else ""


def _describe_forgotten(step: Step[Any]) -> str:
    call = step.label.partition("(")[0]
    return f"{step.label} at {step.place} was not awaited, so it did nothing; write `await {call}(…)`"
