"""The `t` of a plain function: it blocks where the real one is awaited."""

import threading
from typing import Any

import pytest

from remote_evals import EvalContext
from remote_evals.blocking import run_function
from tests.unit.builders import FakeSession, call, run, shown


async def test_a_plain_function_needs_no_await() -> None:
    """A plain function sends, reads and asserts as an async one does, without `await`, in a thread of its own."""
    threads: list[int] = []

    def test(t: Any, word: str) -> None:
        threads.append(threading.get_ident())
        assert t.send("hi").reply == "Hello."
        assert (t.reply, t.session_id, len(t.results)) == ("Hello.", "eval-1", 1)
        assert [one.name for one in t.tool_calls] == ["lookup_order"]
        t.called_tool(word)
        t.last_turn.output_contains("hello")
        t.softly.max_steps(1)

    t = EvalContext(FakeSession(run(call(), reply="Hello.")))
    await run_function(test, t, "lookup_order")
    assert threads != [threading.get_ident()]
    assert shown(t.assertions) == [
        ("called_tool('lookup_order')", True),
        ("output_contains('hello')", True),
        ("max_steps(1)", False),
    ]


async def test_an_async_function_is_awaited() -> None:
    """An async function gets the real `t`."""
    seen: list[Any] = []

    async def test(t: EvalContext) -> None:
        seen.append(t)

    t = EvalContext(FakeSession())
    await run_function(test, t)
    assert seen == [t]


async def test_what_a_plain_function_raises_comes_out() -> None:
    """What a plain function raises is raised."""

    def test(t: Any) -> None:
        raise LookupError("no such order")

    with pytest.raises(LookupError, match="no such order"):
        await run_function(test, EvalContext(FakeSession()))
