"""The `t` of a plain function: it blocks where the async one is awaited."""

import threading
from functools import wraps
from typing import Any

import pytest

from remote_evals import EvalContext
from remote_evals.evals.sync_context import run_function
from tests.builders import FakeSession, call, run, shown


async def test_a_plain_function_needs_no_await() -> None:
    """A plain function sends, reads and asserts like an async one, but without `await`, in a thread of its own."""
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
    """An async function gets the `EvalContext` itself."""
    seen: list[Any] = []

    async def test(t: EvalContext) -> None:
        seen.append(t)

    t = EvalContext(FakeSession())
    await run_function(test, t)
    assert seen == [t]


async def test_what_a_plain_function_raises_comes_out() -> None:
    """An exception in a plain function is raised to its caller."""

    def test(t: Any) -> None:
        raise LookupError("no such order")

    with pytest.raises(LookupError, match="no such order"):
        await run_function(test, EvalContext(FakeSession()))


def _logged(test: Any) -> Any:
    @wraps(test)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return test(*args, **kwargs)

    return wrapper


def _logged_async(test: Any) -> Any:
    @wraps(test)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await test(*args, **kwargs)

    return wrapper


async def _asynchronous(t: Any) -> None:
    await t.send("hi")


def _plain(t: Any) -> None:
    t.send("hi")


@pytest.mark.parametrize(
    "test",
    [_plain, _asynchronous, _logged(_plain), _logged(_asynchronous), _logged_async(_asynchronous)],
    ids=["plain", "async", "decorated plain", "decorated async", "async decorator"],
)
async def test_a_decorated_test_is_run_as_what_it_is(test: Any) -> None:
    """A test wrapped by `functools.wraps` is awaited, or run in a thread, like the test itself."""
    session = FakeSession(run())
    await run_function(test, EvalContext(session))
    assert session.prompts == ["hi"]


async def test_an_async_decorator_of_a_plain_function_is_awaited() -> None:
    """A decorator that makes an async test of a plain function, such as one that returns a prompt, is awaited."""

    def prompts(function: Any) -> Any:
        @wraps(function)
        async def wrapper(t: EvalContext) -> None:
            await t.send(function())

        return wrapper

    @prompts
    def hello() -> str:
        return "hi"

    session = FakeSession(run())
    await run_function(hello, EvalContext(session))
    assert session.prompts == ["hi"]
