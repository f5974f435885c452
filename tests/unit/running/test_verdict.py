"""The outcome of a case, by its turns, its assertions and what broke it."""

import pytest

from remote_evals.results import AssertionResult, CaseError, RunResult, Status
from remote_evals.running.verdict import FailurePolicy, decide_status, make_protocol_gates

LAX = FailurePolicy()
WHOLE, LOSSY = RunResult(finish_reason="stop"), RunResult(finish_reason="stop", missing=("events",))
PASSED = AssertionResult(name="a", passed=True, score=1.0)
FAILED = AssertionResult(name="a", passed=False, score=0.0)
SEEN = FAILED.model_copy(update={"conclusive": True})
SOFT = FAILED.model_copy(update={"kind": "soft"})
BROKE = CaseError(code="REMOTE_STREAM", message="it broke")
EMPTY = CaseError(code="EVAL_EMPTY", message="it tested nothing")


@pytest.mark.parametrize(
    ("turn", "made", "error", "policy", "verdict"),
    [
        (WHOLE, PASSED, None, LAX, ("passed", None)),
        (WHOLE, FAILED, None, LAX, ("failed", None)),
        (WHOLE, PASSED, BROKE, LAX, ("error", "REMOTE_STREAM")),
        (WHOLE, FAILED, BROKE, LAX, ("failed", "REMOTE_STREAM")),
        (WHOLE, FAILED, EMPTY, LAX, ("failed", "EVAL_EMPTY")),
        (None, FAILED, EMPTY, LAX, ("error", "EVAL_EMPTY")),
        (WHOLE, SOFT, None, LAX, ("passed", None)),
        (WHOLE, SOFT, None, FailurePolicy(soft=True), ("failed", None)),
        (LOSSY, PASSED, None, LAX, ("passed", None)),
        (LOSSY, FAILED, None, LAX, ("error", "REMOTE_STREAM")),
        (LOSSY, SEEN, None, LAX, ("failed", None)),
        (LOSSY, FAILED, EMPTY, LAX, ("error", "EVAL_EMPTY")),
        (LOSSY, FAILED, None, FailurePolicy(protocol=True), ("failed", None)),
    ],
)
def test_the_verdict(
    turn: RunResult | None,
    made: AssertionResult,
    error: CaseError | None,
    policy: FailurePolicy,
    verdict: tuple[Status, str | None],
) -> None:
    """A failed gate fails its case, unless nothing was sent or events were lost; otherwise the error decides."""
    status, why = decide_status([turn] if turn else [], [PASSED, made], error, policy, "https://agent")
    assert (status, why and why.code) == verdict


def test_lost_events_are_told_with_the_deployment() -> None:
    """A failure that the network may have caused names the deployment and what to look for."""
    _, why = decide_status([LOSSY], [FAILED], None, LAX, "https://agent")
    assert why is not None
    assert why.message.startswith("https://agent: events of the stream were lost on the way, ")
    assert "proxy" in why.message


def test_each_oddity_is_a_gate_of_its_turn() -> None:
    """Each protocol warning of each turn is a failed gate that names its turn."""
    turns = [RunResult(), RunResult(turn=2, warnings=("one", "two"))]
    assert [(gate.key, gate.kind, gate.passed, gate.turn, gate.message) for gate in make_protocol_gates(turns)] == [
        ("protocol", "gate", False, 2, "turn 2: protocol failed: one"),
        ("protocol", "gate", False, 2, "turn 2: protocol failed: two"),
    ]
