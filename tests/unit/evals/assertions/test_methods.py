"""What the assertion methods of `t` record, and what they see of a conversation."""

from collections.abc import Callable

import pytest

from remote_evals.errors import RemoteStreamError
from remote_evals.evals.assertions import values as checks
from remote_evals.evals.assertions.methods import Assertions
from remote_evals.evals.context import EvalContext
from remote_evals.results import AssertionResult, Timing
from tests.builders import FakeSession, call, run, shown, usage


def broken(reply: str | None = None) -> RemoteStreamError:
    error = RemoteStreamError("https://agent", "the stream broke", "Try again.")
    error.partial = None if reply is None else run(call(), reply=reply, finish_reason=None)
    return error


async def conversation(*answers: object) -> EvalContext:
    t = EvalContext(FakeSession(*answers))  # type: ignore[arg-type]
    for _ in answers:
        await t.send("hi")
    return t


METHODS: list[tuple[Callable[[Assertions], None], str]] = [
    (lambda t: t.completed(), "completed()"),
    (lambda t: t.ended("length"), "finish_reason('length')"),
    (lambda t: t.called_tool("a|b", {"x": 1}, times=2, subagent="s", outcome="ok"), "called_tool('a|b', args="),
    (lambda t: t.not_called_tool("a", subagent="s"), "not_called_tool('a', subagent=\"s\")"),
    (lambda t: t.tool_order(["a"], subagent="s", exact=True), "tool_order(['a'], subagent=\"s\", exact=true)"),
    (lambda t: t.output_contains("a"), "output_contains('a')"),
    (lambda t: t.output_not_contains("a"), "output_not_contains('a')"),
    (lambda t: t.output_matches("a"), "output_matches('a')"),
    (lambda t: t.max_steps(1), "max_steps(1)"),
    (lambda t: t.max_tokens(1), "max_tokens(1)"),
    (lambda t: t.max_cost_usd(0.5), "max_cost_usd(0.5)"),
    (lambda t: t.max_duration_ms(1), "max_duration_ms(1)"),
    (lambda t: t.max_first_text_ms(1), "max_first_text_ms(1)"),
    (lambda t: t.check("reply", "a", checks.includes("a")), "reply"),
]


@pytest.mark.parametrize(("method", "name"), METHODS, ids=[name for _, name in METHODS])
async def test_every_method_records_one_gate(method: Callable[[Assertions], None], name: str) -> None:
    """Each assertion is recorded once, as a gate, under the name of the call that made it; `softly` makes it soft."""
    t = await conversation(run())
    method(t)
    method(t.softly)
    assert [result.kind for result in t.assertions] == ["gate", "soft"]
    assert all(result.name.startswith(name) for result in t.assertions)


@pytest.mark.parametrize(("method", "name"), METHODS, ids=[name for _, name in METHODS])
async def test_no_assertion_raises_before_the_first_answer(method: Callable[[Assertions], None], name: str) -> None:
    """An assertion made before anything was sent is recorded like any other."""
    t = EvalContext(FakeSession())
    method(t)
    method(t.last_turn)
    assert len(t.assertions) == 2


async def test_a_failed_check_is_recorded_and_not_raised() -> None:
    """A failure does not prevent the assertions after it."""
    t = await conversation(run(reply="Lost."))
    t.output_contains("shipped")
    t.completed()
    assert shown(t.assertions) == [("output_contains('shipped')", False), ("completed()", True)]


async def test_a_soft_check_is_recorded_as_soft() -> None:
    """`soft` checks a value as `check` does, with its measured score, but is not a gate."""
    t = await conversation(run())
    t.soft("tone", 0.4, checks.at_least(0.7))
    (result,) = t.assertions
    assert result == AssertionResult(
        name="tone",
        key="tone",
        kind="soft",
        passed=False,
        score=0.4,
        threshold=0.7,
        message="tone failed: expected at_least(0.7), got 0.4",
    )


async def test_completed_asks_the_latest_run() -> None:
    """`completed` passes if the latest run ended normally, however the run before it ended."""
    t = await conversation(run(finish_reason="length"), run())
    t.completed()
    assert shown(t.assertions) == [("completed()", True)]


async def test_an_expected_end_lets_absence_count() -> None:
    """Once a run has ended with the finish reason that was asserted, absence can be asserted too."""
    t = await conversation(run(finish_reason="length"))
    t.not_called_tool("refund")
    t.ended("length")
    t.not_called_tool("refund")
    t.softly.not_called_tool("refund")
    assert [result.passed for result in t.assertions] == [False, True, True, True]


async def test_assertions_see_the_whole_conversation() -> None:
    """The calls, steps, tokens, cost and time of all turns count together; the reply is the last one."""
    timing = Timing(total_ms=100, first_text_ms=10)
    t = await conversation(
        run(call("a"), reply="one", usage=usage(10, 0.1), timing=timing),
        run(call("b"), reply="two", usage=usage(10, 0.1), timing=timing),
    )
    t.tool_order(["a", "b"], exact=True)
    t.max_steps(4)
    t.max_tokens(20)
    t.max_cost_usd(0.2)
    t.max_duration_ms(200)
    t.output_contains("two")
    assert all(result.passed for result in t.assertions)
    t.max_steps(3)
    t.max_tokens(19)
    t.max_cost_usd(0.19)
    t.max_duration_ms(199)
    t.output_contains("one")
    assert not any(result.passed for result in t.assertions[6:])


async def test_the_last_turn_alone_can_be_asserted_on() -> None:
    """Assertions on the last turn ignore the turns before it, and are recorded with the others."""
    t = await conversation(run(call("a")), run(call("b")))
    t.last_turn.not_called_tool("a")
    t.last_turn.called_tool("b")
    assert [result.passed for result in t.assertions] == [True, True]


async def test_the_context_shows_what_was_seen() -> None:
    """An eval can read the latest reply, all tool calls and the session id."""
    t = await conversation(run(call("a"), reply="one"), run(call("b"), reply="two"))
    assert (t.reply, [one.name for one in t.tool_calls], t.session_id) == ("two", ["a", "b"], "eval-1")
    assert EvalContext(FakeSession()).reply == ""


async def test_turns_are_counted_from_one() -> None:
    """Each prompt is sent as the next turn of the session."""
    t = await conversation(run(), run())
    assert [result.turn for result in t.results] == [1, 2]


async def test_a_broken_stream_keeps_what_had_come() -> None:
    """A run that broke raises, and its partial result is kept for the assertions and the report."""
    t = EvalContext(FakeSession(broken("Half a")))
    with pytest.raises(RemoteStreamError):
        await t.send("hi")
    assert (t.reply, [one.name for one in t.tool_calls]) == ("Half a", ["lookup_order"])


async def test_a_request_that_got_nothing_leaves_no_turn() -> None:
    """A request that failed before anything was received adds no turn."""
    t = EvalContext(FakeSession(broken(), run()))
    with pytest.raises(RemoteStreamError):
        await t.send("hi")
    assert (await t.send("again")).turn == 1
