"""What becomes of a case: passed, failed, or one that could not be judged."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.durations import render_duration
from ..errors import RemoteEvalsError, RemoteStreamError, describe_error
from ..evals.context import EvalContext
from ..evals.eval import Eval
from ..evals.steps import PendingCall
from ..results import AssertionResult, CaseError, RunResult, Status
from ..targets import Target


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What fails a case besides its gates: failed `soft` assertions, what is odd in the `protocol` of its turns."""

    soft: bool = False
    protocol: bool = False


def protocol_gates(turns: Sequence[RunResult]) -> list[AssertionResult]:
    """Return a failed gate for each warning of the turns, none for turns that kept to the protocol."""
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


def decide_status(
    turns: Sequence[RunResult],
    assertions: Sequence[AssertionResult],
    error: CaseError | None,
    strictness: FailurePolicy,
    target: str,
) -> tuple[Status, CaseError | None]:
    """Return how a case ended, and why it could not be judged or broke off, None where neither holds.

    `error` is what broke it, if anything did, and `target` the description of the deployment. A case that failed is
    failed whatever broke afterwards, unless what failed it may be the fault of the way and not the agent's.
    """
    if error and error.code == "EVAL_EMPTY" and not turns:
        # A check that failed without the agent says nothing of it.
        return "error", error
    failures = [one for one in assertions if not one.passed and (one.kind == "gate" or strictness.soft)]
    doubt = None if strictness.protocol else _find_transport_doubt(turns, failures, target)
    if failures and not doubt:
        return "failed", error
    error = error or doubt
    return "error" if error else "passed", error


def _find_transport_doubt(
    turns: Sequence[RunResult], failures: Sequence[AssertionResult], target: str
) -> CaseError | None:
    """Return why what failed may be the fault of the way, None where something that failed is the agent's."""
    is_whole = not any("events" in turn.missing for turn in turns)
    if is_whole or not failures or any(one.conclusive for one in failures):
        return None
    happened = "events of the stream were lost on the way, so what failed may have been among them"
    advice = "Look for a proxy that drops events; the warnings say where they are missing"
    return CaseError(code=RemoteStreamError.code, message=f"{target}: {happened}. {advice}.")


def explain_failure(failure: RemoteEvalsError, target: Target, place: str = "") -> CaseError:
    """Return why for an error of this package; `place` follows its message."""
    message = target.redactor.scrub(f"{failure}{place}")
    return CaseError(code=failure.code, message=message, status=getattr(failure, "status", None))


def explain_agent(failure: BaseException, target: Target) -> CaseError:
    """Return why for what an agent in this process raised as it was made or taken down."""
    return _explain("AGENT_FAILED", f"the agent could not be had: {describe_error(failure)}", target)


def explain_exception(failure: BaseException, eval_: Eval, target: Target) -> CaseError:
    """Return why for whatever an eval raised."""
    place = _place_of(failure, eval_.file)
    text = f"the eval raised {describe_error(failure)}{place}"
    if isinstance(failure, AssertionError) and not str(failure):
        text = f"the eval's `assert` failed{place}; t.check(…) would show the values"
    return _explain("EVAL_FAILED", text, target)


def explain_timeout(limit_s: float, steps: Sequence[PendingCall[Any]], target: Target) -> CaseError:
    """Return why for an eval that was not done within its limit; `steps` are those that it had begun."""
    waited = f"{steps[-1].label} was the last thing it did" if steps else "it had sent nothing yet"
    text = (
        f"the case was not done within {render_duration(limit_s)}; {waited}. What it waits for hangs, or its own code"
    )
    return _explain("CASE_TIMEOUT", text, target)


def find_forgotten_await(t: EvalContext, target: Target) -> CaseError | None:
    """Return why for an eval that forgot an `await`, None for one that forgot none."""
    if not t.forgotten:
        return None
    step = t.forgotten[0]
    call = step.label.partition("(")[0]
    text = f"{step.label} at {step.place} was not awaited, so it did nothing; write `await {call}(…)`"
    return _explain("EVAL_FAILED", text, target)


def find_emptiness(t: EvalContext, eval_: Eval) -> CaseError | None:
    """Return why for an eval that came to its end and tested nothing, None for one that tested something."""
    place = eval_.place or eval_.file or "this case"
    if not t.results:
        return CaseError(code="EVAL_EMPTY", message=f"the eval at {place} sent nothing")
    if not t.assertions:
        return CaseError(code="EVAL_EMPTY", message=f"the eval at {place} asserted nothing, so nothing was checked")
    return None


def _explain(code: str, text: str, target: Target) -> CaseError:
    return CaseError(code=code, message=target.redactor.scrub(text))


def _place_of(failure: BaseException, file: str) -> str:
    """Return where in the eval's own file an error was raised, or was passed on last; nothing for other files."""
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if frame.filename.endswith(file)]
    return f" ({file}:{frames[-1].lineno})" if file and frames else ""
