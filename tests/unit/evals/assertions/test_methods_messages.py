"""The whole message of each failed assertion."""

from collections.abc import Callable
from typing import Any

import pytest

from remote_evals.evals import assertions
from remote_evals.evals.assertions import values as checks
from remote_evals.results import AssertionResult, PendingApproval, RunError, RunResult, Timing
from tests.builders import call, deepest, far_below, run, usage

ORDER_42 = run(call(args={"orderId": "42"}))
OTHERS = run(call("search_docs"), call("issue_refund"))
PENDING = PendingApproval(approval_id="a", tool_call_id="c", tool="send_email")
FAILED = run(finish_reason="error", error=RunError(name="ProviderError", message="it broke"))
HIDDEN = run(finish_reason="error", error=RunError(name="ProviderError"))
UNFINISHED = "the run did not come to its expected end, so it may still have happened: "

MESSAGES: list[tuple[RunResult, Callable[[RunResult], AssertionResult], str]] = [
    (
        ORDER_42,
        lambda r: assertions.called_tool(r, "lookup_order", args={"orderId": "41"}),
        "called_tool('lookup_order', args={\"orderId\": \"41\"}) failed: 'lookup_order' was called 1 time(s) but"
        ' no call matched the expected args; closest call differs in orderId: expected "41", got "42"',
    ),
    (
        OTHERS,
        lambda r: assertions.called_tool(r, "x"),
        "called_tool('x') failed: tools called were [search_docs, issue_refund]",
    ),
    (run(), lambda r: assertions.called_tool(r, "x"), "called_tool('x') failed: tools called were []"),
    (
        OTHERS,
        lambda r: assertions.called_tool(r, "search_docs", subagent="researcher"),
        "called_tool('search_docs', subagent=\"researcher\") failed: "
        "sub-agent 'researcher' called nothing; sub-agents that called tools were []",
    ),
    (
        run(call(), call()),
        lambda r: assertions.called_tool(r, "lookup_order", times=1),
        "called_tool('lookup_order', times=1) failed: 2 call(s) matched, expected exactly 1",
    ),
    (
        run(call(outcome="error"), call(outcome=None)),
        lambda r: assertions.called_tool(r, "lookup_order", outcome="ok"),
        "called_tool('lookup_order', outcome=\"ok\") failed: 'lookup_order' was called 2 time(s) but with the outcome:"
        " error, not finished",
    ),
    (
        run(call("refund", {"id": 1}, subagent_path=("lead", "clerk")), call("refund")),
        lambda r: assertions.not_called_tool(r, "refund"),
        "not_called_tool('refund') failed: it was called 2 time(s), first by lead/clerk with {\"id\": 1}",
    ),
    (
        run(finish_reason=None, last_event="text.delta"),
        lambda r: assertions.not_called_tool(r, "refund"),
        f"not_called_tool('refund') failed: {UNFINISHED}the run never ended; the last event was text.delta",
    ),
    (
        OTHERS,
        lambda r: assertions.tool_order(r, ["issue_refund", "search_docs"]),
        "tool_order(['issue_refund', 'search_docs']) failed: 'search_docs' was missing or out of order; "
        "tools called were [search_docs, issue_refund]",
    ),
    (
        OTHERS,
        lambda r: assertions.tool_order(r, ["search_docs"], exact=True),
        "tool_order(['search_docs'], exact=true) failed: tools called were [search_docs, issue_refund]",
    ),
    (
        run(finish_reason="max-steps"),
        assertions.ended,
        "completed() failed: finish reason was 'max-steps' (the run hit its step limit while still calling tools)",
    ),
    (
        run(finish_reason="awaiting-approval", pending_approval=PENDING),
        assertions.ended,
        "completed() failed: finish reason was 'awaiting-approval' (the run paused for a decision on send_email; "
        "decide it in the next turn, or expect this finish_reason)",
    ),
    (
        FAILED,
        assertions.ended,
        "completed() failed: finish reason was 'error' (the run failed: ProviderError: it broke)",
    ),
    (HIDDEN, assertions.ended, "completed() failed: finish reason was 'error' (the run failed: ProviderError)"),
    (
        run(finish_reason="brand-new"),
        assertions.ended,
        "completed() failed: finish reason was 'brand-new' (not the normal end, 'stop')",
    ),
    (
        run(finish_reason=None),
        assertions.ended,
        "completed() failed: the run never ended; the last event was none",
    ),
    (
        run(reply="Lost."),
        lambda r: assertions.output_contains(r, "shipped"),
        "output_contains('shipped') failed: the reply was \"Lost.\"",
    ),
    (
        run(),
        lambda r: assertions.output_matches(r, "x+"),
        "output_matches('x+') failed: the reply was empty",
    ),
    (
        run(steps=5),
        lambda r: assertions.max_steps(r, 3),
        "max_steps(3) failed: got 5 step(s), expected at most 3",
    ),
    (
        run(usage=usage(1_234_568)),
        lambda r: assertions.max_tokens(r, 1_234_567),
        "max_tokens(1234567) failed: got 1234568 token(s), expected at most 1234567",
    ),
    (
        run(usage=usage(1, 0.0123)),
        lambda r: assertions.max_cost_usd(r, 0.01),
        "max_cost_usd(0.01) failed: got 0.0123 US dollars, expected at most 0.01",
    ),
    (
        run(usage=None, missing=("usage", "cost")),
        lambda r: assertions.max_cost_usd(r, 0.01),
        "max_cost_usd(0.01) failed: the run did not report cost, so there is nothing to compare",
    ),
    (
        run(timing=Timing(total_ms=1_200_001.0)),
        lambda r: assertions.max_duration_ms(r, 1_200_000),
        "max_duration_ms(1200000) failed: got 1200001 ms, expected at most 1200000",
    ),
    (
        run(),
        lambda r: assertions.max_first_text_ms(r, 100),
        "max_first_text_ms(100) failed: no text came at all",
    ),
    (
        run(reply="Lost."),
        lambda r: assertions.check_value("status", r.reply, checks.includes("shipped")),
        "status failed: expected includes('shipped'), got \"Lost.\"",
    ),
]


@pytest.mark.parametrize(("judged", "assertion", "message"), MESSAGES, ids=[row[2][:60] for row in MESSAGES])
def test_a_failed_assertion_says_what_was_seen(
    judged: RunResult, assertion: Callable[[RunResult], AssertionResult], message: str
) -> None:
    """The message shows, on one line, the assertion as it was written and what was seen instead."""
    assert assertion(judged).message == message


@pytest.mark.parametrize("expected", [{"a": 1}, {"a": [1]}, {"b": None}], ids=repr)
def test_the_deepest_args_never_make_an_assertion_raise(expected: dict[str, Any]) -> None:
    """Args nested as deeply as JSON can be parsed are compared and shown like any others."""
    judged = run(call(args={"a": deepest()}))
    assert not far_below(lambda: assertions.called_tool(judged, "lookup_order", args=expected)).passed
    assert not far_below(lambda: assertions.not_called_tool(judged, "lookup_order")).passed


def test_large_numbers_in_args_are_shown_in_full() -> None:
    """Two ids that differ in their last digit are shown as different."""
    judged = run(call(args={"id": 12345678901234567890}))
    message = assertions.called_tool(judged, "lookup_order", args={"id": 12345678901234567891}).message
    assert message.endswith("id: expected 12345678901234567891, got 12345678901234567890")
