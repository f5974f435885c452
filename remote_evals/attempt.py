"""One attempt at one case: a fresh session, a `t`, the eval, and whatever happens as a value."""

import asyncio

from .context import EvalContext
from .conversation import combine_runs
from .durations import render_duration
from .errors import RemoteEvalsError
from .evals import Eval
from .results import CaseError, EvalResult, RunResult, Status
from .targets._base import Target

# So much later than the session's own clock, which can say more: what the last event was.
_GRACE_S = 0.25


async def run_case(eval_: Eval, target: Target, *, limit_s: float | None, strict: bool) -> EvalResult:
    """Run a case in a session of its own and return its result; nothing but cancellation is raised.

    The case may take `limit_s` seconds, any number for None. With `strict`, a failed soft assertion fails it.
    """
    async with target.open_session(limit_s) as session:
        t = EvalContext(session)
        error = await _attempt(eval_, t, target, limit_s)
    run = combine_runs(t.results)
    return _result(eval_, _decide_status(t, error, strict), error, run).model_copy(
        update={"session_id": t.session_id, "turns": tuple(t.results), "assertions": tuple(t.assertions)}
    )


def skip_case(eval_: Eval, why: CaseError) -> EvalResult:
    """Return the result of a case that was not run."""
    return _result(eval_, "skipped", why, RunResult())


async def _attempt(eval_: Eval, t: EvalContext, target: Target, limit_s: float | None) -> CaseError | None:
    clock = asyncio.timeout(None if limit_s is None else limit_s + _GRACE_S)
    try:
        async with clock:
            await eval_.run(t)
    except RemoteEvalsError as failure:
        return CaseError(code=failure.code, message=target.redactor.scrub(str(failure)))
    except Exception as failure:  # an eval that breaks is an error of its own case, never the end of the others
        if clock.expired():
            text = f"the case was not done within {render_duration(limit_s or 0)}; its own code, or its token, hangs"
            return CaseError(code="CASE_TIMEOUT", message=text)
        text = f"the eval raised {type(failure).__name__}: {failure}"
        return CaseError(code="EVAL_FAILED", message=target.redactor.scrub(text))
    if not t.assertions:
        return CaseError(code="EVAL_EMPTY", message="the eval asserted nothing, so nothing was checked")
    return None


def _decide_status(t: EvalContext, error: CaseError | None, strict: bool) -> Status:
    # A gate that failed is known to have failed, whatever broke afterwards.
    if any(not a.passed and (a.kind == "gate" or strict) for a in t.assertions):
        return "failed"
    return "error" if error else "passed"


def _result(eval_: Eval, status: Status, error: CaseError | None, run: RunResult) -> EvalResult:
    return EvalResult(
        name=eval_.name,
        case=eval_.name,
        suite=eval_.suite,
        file=eval_.file,
        tags=eval_.tags,
        status=status,
        run=run,
        error=error,
    )
