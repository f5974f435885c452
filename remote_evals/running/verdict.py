"""Decides the outcome of a case: passed, failed, or an error, and explains, without secrets, why it is an error."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.durations import render_duration
from ..errors import RemoteEvalsError, RemoteStreamError, describe_error
from ..evals.context import EvalContext
from ..evals.eval import Eval
from ..evals.pending_calls import PendingCall
from ..results import AssertionResult, CaseError, RunResult, Status
from ..targets import Target


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What fails a case besides its gates: failed `soft` assertions, and `protocol` warnings of its turns."""

    soft: bool = False
    protocol: bool = False


def decide_status(
    turns: Sequence[RunResult],
    assertions: Sequence[AssertionResult],
    error: CaseError | None,
    policy: FailurePolicy,
    target: str,
) -> tuple[Status, CaseError | None]:
    """Return the status of a case, and why it could not be judged or broke off, or None.

    `error` is what broke the case, if anything did, and `target` the description of the deployment. A case with a
    failure is failed even if it broke afterwards, unless the failure may be caused by the network rather than the
    agent.
    """
    if error and error.code == "EVAL_EMPTY" and not turns:
        # A check that failed before the agent was asked says nothing about the agent.
        return "error", error
    failures = [one for one in assertions if not one.passed and (one.kind == "gate" or policy.soft)]
    doubt = None if policy.protocol else _find_transport_doubt(turns, failures, target)
    if failures and not doubt:
        return "failed", error
    error = error or doubt
    return "error" if error else "passed", error


def _find_transport_doubt(
    turns: Sequence[RunResult], failures: Sequence[AssertionResult], target: str
) -> CaseError | None:
    """Return why the failures may be caused by the network, or None if some failure is certainly the agent's."""
    is_complete = not any("events" in turn.missing for turn in turns)
    if is_complete or not failures or any(one.conclusive for one in failures):
        return None
    happened = "events of the stream were lost on the way, so what failed may have been among them"
    advice = "Look for a proxy that drops events; the warnings say where they are missing"
    return CaseError(code=RemoteStreamError.code, message=f"{target}: {happened}. {advice}.")


def make_protocol_gates(turns: Sequence[RunResult]) -> list[AssertionResult]:
    """Return a failed gate for each warning of the turns; none if they followed the protocol."""
    return [
        AssertionResult(
            name="protocol",
            key="protocol",
            passed=False,
            score=0.0,
            message=f"turn {turn.turn}: protocol failed: {warning}",
            turn=turn.turn,
        )
        for turn in turns
        for warning in turn.warnings
    ]


def find_forgotten_await(t: EvalContext, target: Target) -> CaseError | None:
    """Return the error of an eval that forgot an `await`, or None."""
    if not t.forgotten:
        return None
    call = t.forgotten[0]
    method = call.label.partition("(")[0]
    text = f"{call.label} at {call.place} was not awaited, so it did nothing; write `await {method}(…)`"
    return _make_error("EVAL_FAILED", text, target)


def find_empty_eval(t: EvalContext, eval_: Eval) -> CaseError | None:
    """Return the error of an eval that ended without testing anything, or None."""
    place = eval_.place or eval_.file or "this case"
    if not t.results:
        return CaseError(code="EVAL_EMPTY", message=f"the eval at {place} sent nothing")
    if not t.assertions:
        return CaseError(code="EVAL_EMPTY", message=f"the eval at {place} asserted nothing, so nothing was checked")
    return None


def explain_failure(failure: RemoteEvalsError, target: Target, place: str = "") -> CaseError:
    """Return the case error for an error of this package; `place` follows its message."""
    message = target.redactor.scrub(f"{failure}{place}")
    return CaseError(
        code=failure.code,
        message=message,
        status=getattr(failure, "status", None),
        deployment_code=getattr(failure, "deployment_code", None),
    )


def explain_agent(failure: BaseException, target: Target) -> CaseError:
    """Return the case error for what an agent in this process raised while it was started or stopped."""
    return _make_error("AGENT_FAILED", f"the agent failed to start or stop: {describe_error(failure)}", target)


def explain_exception(failure: BaseException, eval_: Eval, target: Target) -> CaseError:
    """Return the case error for any exception that an eval raised."""
    place = _render_place(failure, eval_.file)
    text = f"the eval raised {describe_error(failure)}{place}"
    if isinstance(failure, AssertionError) and not str(failure):
        text = f"the eval's `assert` failed{place}; t.check(…) would show the values"
    return _make_error("EVAL_FAILED", text, target)


def explain_timeout(limit_s: float, calls: Sequence[PendingCall[Any]], target: Target) -> CaseError:
    """Return the case error for an eval that was not done within its limit; `calls` are the calls it made on `t`."""
    last = f"its last call was {calls[-1].label}" if calls else "it had sent nothing yet"
    text = (
        f"the case was not done within {render_duration(limit_s)}; {last}. Either what it waits for hangs, or its own "
        "code does"
    )
    return _make_error("CASE_TIMEOUT", text, target)


def _make_error(code: str, text: str, target: Target) -> CaseError:
    return CaseError(code=code, message=target.redactor.scrub(text))


def _render_place(failure: BaseException, file: str) -> str:
    """Return ` (file:line)` of the last frame of the error in the eval's own file, or "" if there is none."""
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if frame.filename.endswith(file)]
    return f" ({file}:{frames[-1].lineno})" if file and frames else ""
