"""What becomes of a case: passed, failed, or one that could not be judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from .errors import RemoteStreamError
from .results import AssertionResult, CaseError, RunResult, Status


@dataclass(frozen=True, slots=True)
class Strictness:
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


def reach_verdict(
    turns: Sequence[RunResult],
    assertions: Sequence[AssertionResult],
    error: CaseError | None,
    strictness: Strictness,
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
    doubt = None if strictness.protocol else _find_doubt(turns, failures, target)
    if failures and not doubt:
        return "failed", error
    error = error or doubt
    return "error" if error else "passed", error


def _find_doubt(turns: Sequence[RunResult], failures: Sequence[AssertionResult], target: str) -> CaseError | None:
    """Return why what failed may be the fault of the way, None where something that failed is the agent's."""
    is_whole = not any("events" in turn.missing for turn in turns)
    if is_whole or not failures or any(one.conclusive for one in failures):
        return None
    happened = "events of the stream were lost on the way, so what failed may have been among them"
    advice = "Look for a proxy that drops events; the warnings say where they are missing"
    return CaseError(code=RemoteStreamError.code, message=f"{target}: {happened}. {advice}.")
