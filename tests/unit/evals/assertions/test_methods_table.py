"""When each assertion passes, as a table."""

from collections.abc import Callable
from typing import Any

import pytest

from remote_evals.evals import assertions
from remote_evals.results import AssertionResult, RunResult, Timing
from tests.builders import call, run, usage

Row = tuple[str, RunResult, Callable[[RunResult], AssertionResult], bool]

ORDER_41 = run(call(args={"orderId": "41", "n": 1}))
TWICE = run(call(args={"orderId": "41"}), call(args={"orderId": "42"}))
NESTED = run(call("task"), call("search", subagent_path=("researcher", "browser")), call("write"))
FAILED = run(call(outcome="error"), call("paused", outcome=None))
ALL_NUMBERS = run(steps=3, usage=usage(100, 0.5), timing=Timing(total_ms=900.0, first_text_ms=200.0))


def called(name: str = "lookup_order", **options: Any) -> Callable[[RunResult], AssertionResult]:
    return lambda judged: assertions.called_tool(judged, name, **options)


def not_called(name: str, **options: Any) -> Callable[[RunResult], AssertionResult]:
    return lambda judged: assertions.not_called_tool(judged, name, **options)


def order(*names: str, **options: Any) -> Callable[[RunResult], AssertionResult]:
    return lambda judged: assertions.tool_order(judged, names, **options)


def at_most(name: str, limit: float) -> Callable[[RunResult], AssertionResult]:
    return lambda judged: getattr(assertions, name)(judged, limit)


ROWS: list[Row] = [
    ("completed: stop", run(), assertions.ended, True),
    ("completed: another end", run(finish_reason="length"), assertions.ended, False),
    ("completed: no end", run(finish_reason=None), assertions.ended, False),
    ("finish_reason: as asked", run(finish_reason="length"), lambda r: assertions.ended(r, "length"), True),
    ("finish_reason: stop instead", run(), lambda r: assertions.ended(r, "length"), False),
    ("called_tool: called", ORDER_41, called(), True),
    ("called_tool: another", ORDER_41, called("refund"), False),
    ("called_tool: part of a name", ORDER_41, called("lookup"), False),
    ("called_tool: either", ORDER_41, called("refund|lookup_order"), True),
    ("called_tool: partial args", ORDER_41, called(args={"orderId": "41"}), True),
    ("called_tool: no args asked", ORDER_41, called(args={}), True),
    ("called_tool: other args", ORDER_41, called(args={"orderId": 41}), False),
    ("called_tool: 1 is 1.0", ORDER_41, called(args={"n": 1.0}), True),
    ("called_tool: 1 is not true", ORDER_41, called(args={"n": True}), False),
    ("called_tool: args of different calls", TWICE, called(args={"orderId": "43"}), False),
    ("called_tool: times", TWICE, called(times=2), True),
    ("called_tool: times counts matching calls", TWICE, called(args={"orderId": "41"}, times=1), True),
    ("called_tool: more times", TWICE, called(times=1), False),
    ("called_tool: fewer times", TWICE, called(times=3), False),
    ("called_tool: no times", TWICE, called("refund", times=0), True),
    ("called_tool: by any agent", NESTED, called("search"), True),
    ("called_tool: by a sub-agent", NESTED, called("search", subagent="browser"), True),
    ("called_tool: under a sub-agent", NESTED, called("search", subagent="researcher"), True),
    ("called_tool: not by the sub-agent", NESTED, called("write", subagent="researcher"), False),
    ("called_tool: outcome ok", FAILED, called(outcome="ok"), False),
    ("called_tool: outcome error", FAILED, called(outcome="error"), True),
    ("called_tool: open call", FAILED, called("paused"), True),
    ("called_tool: open call has no outcome", FAILED, called("paused", outcome="ok"), False),
    ("not_called_tool: never", NESTED, not_called("refund"), True),
    ("not_called_tool: by the lead", NESTED, not_called("write"), False),
    ("not_called_tool: by a sub-agent", NESTED, not_called("search"), False),
    ("not_called_tool: either", NESTED, not_called("refund|search"), False),
    ("not_called_tool: not by the sub-agent", NESTED, not_called("write", subagent="researcher"), True),
    ("tool_order: in order", NESTED, order("task", "write"), True),
    ("tool_order: out of order", NESTED, order("write", "task"), False),
    ("tool_order: missing", NESTED, order("task", "refund"), False),
    ("tool_order: of a sub-agent", NESTED, order("search", subagent="researcher"), True),
    ("tool_order: not of the sub-agent", NESTED, order("search", "write", subagent="researcher"), False),
    ("tool_order: exact", NESTED, order("task", "search", "write", exact=True), True),
    ("tool_order: exact with another between", NESTED, order("task", "write", exact=True), False),
    ("output_contains: any case", run(reply="SHIPPED"), lambda r: assertions.output_contains(r, "shipped"), True),
    ("output_contains: not there", run(reply="lost"), lambda r: assertions.output_contains(r, "shipped"), False),
    ("output_not_contains: gone", run(reply="ok"), lambda r: assertions.output_not_contains(r, "sorry"), True),
    ("output_not_contains: there", run(reply="SORRY"), lambda r: assertions.output_not_contains(r, "sorry"), False),
    ("output_matches: found", run(reply="order 42"), lambda r: assertions.output_matches(r, r"\d+"), True),
    ("output_matches: case counts", run(reply="Order"), lambda r: assertions.output_matches(r, "order"), False),
    ("max_steps: at the limit", ALL_NUMBERS, at_most("max_steps", 3), True),
    ("max_steps: over", ALL_NUMBERS, at_most("max_steps", 2), False),
    ("max_tokens: at the limit", ALL_NUMBERS, at_most("max_tokens", 100), True),
    ("max_tokens: over", ALL_NUMBERS, at_most("max_tokens", 99), False),
    ("max_cost_usd: at the limit", ALL_NUMBERS, at_most("max_cost_usd", 0.5), True),
    ("max_cost_usd: over", ALL_NUMBERS, at_most("max_cost_usd", 0.49), False),
    ("max_duration_ms: at the limit", ALL_NUMBERS, at_most("max_duration_ms", 900), True),
    ("max_duration_ms: over", ALL_NUMBERS, at_most("max_duration_ms", 899), False),
    ("max_first_text_ms: at the limit", ALL_NUMBERS, at_most("max_first_text_ms", 200), True),
    ("max_first_text_ms: over", ALL_NUMBERS, at_most("max_first_text_ms", 199), False),
    ("max_first_text_ms: no text", run(), at_most("max_first_text_ms", 9000), False),
]


@pytest.mark.parametrize(("judged", "assertion", "passed"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_an_assertion_passes_when_the_table_says_so(
    judged: RunResult, assertion: Callable[[RunResult], AssertionResult], passed: bool
) -> None:
    """Each assertion passes or fails as documented, scores 1 or 0, and has a message only if it failed."""
    result = assertion(judged)
    assert (result.passed, result.score, result.skipped) == (passed, float(passed), False)
    assert bool(result.message) is not passed


ABSENCES: list[tuple[str, Callable[..., AssertionResult]]] = [
    ("not_called_tool", lambda r, **end: assertions.not_called_tool(r, "refund", **end)),
    ("called_tool no times", lambda r, **end: assertions.called_tool(r, "refund", times=0, **end)),
    ("called_tool exact times", lambda r, **end: assertions.called_tool(r, "lookup_order", times=1, **end)),
    ("tool_order exact", lambda r, **end: assertions.tool_order(r, ["lookup_order"], exact=True, **end)),
    ("output_not_contains", lambda r, **end: assertions.output_not_contains(r, "sorry", **end)),
]


@pytest.mark.parametrize("assertion", [row[1] for row in ABSENCES], ids=[row[0] for row in ABSENCES])
@pytest.mark.parametrize("reason", [None, "error", "max-steps", "awaiting-approval", "a-newer-end"])
def test_absence_in_a_broken_run_proves_nothing(assertion: Callable[..., AssertionResult], reason: str | None) -> None:
    """What was not seen counts as not done only if the run came to its expected end."""
    assert assertion(run(call())).passed
    assert not assertion(run(call(), finish_reason=reason)).passed
    assert assertion(run(call(), finish_reason=reason), expected_end=reason).passed is True


@pytest.mark.parametrize("missing", ["steps", "usage", "cost"])
def test_what_the_stream_did_not_carry_fails(missing: Any) -> None:
    """A limit on a number that was not reported fails and says so, even if its known part is below the limit."""
    name = {"steps": "max_steps", "usage": "max_tokens", "cost": "max_cost_usd"}[missing]
    result = at_most(name, 1000)(run(missing=(missing,)))
    assert not result.passed
    assert f"did not report {missing}" in result.message


def test_an_unknown_cost_can_be_skipped() -> None:
    """With "skip", a run of unknown cost passes, marked as skipped with a warning; a known cost is still checked."""
    skipped = assertions.max_cost_usd(run(missing=("cost",)), 0.1, unknown_cost="skip")
    assert (skipped.passed, skipped.skipped) == (True, True)
    assert "did not report every cost" in skipped.message
    judged = assertions.max_cost_usd(run(usage=usage(1, 0.2)), 0.1, unknown_cost="skip")
    assert (judged.passed, judged.skipped) == (False, False)
