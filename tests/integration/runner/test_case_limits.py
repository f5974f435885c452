"""The time limit of a case, even with code that blocks the event loop and slow factories."""

import asyncio
import threading
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalResult, EvalRunner, define_eval, make_target
from tests.serving.deployments import greet, named


def first(agent: Any, **settings: Any) -> EvalResult:
    [result] = EvalRunner(agent=agent, **settings).run(named("hi")).results
    return result


def test_an_agent_that_blocks_the_loop_has_taken_too_long() -> None:
    """An async agent that blocks the event loop beyond its case's limit is CASE_TIMEOUT, even if it returns."""

    async def blocking(prompt: str) -> str:
        threading.Event().wait(0.2)
        return "Hello."

    result = first(blocking, timeout_s=0.05)
    assert (result.status, result.error and result.error.code) == ("error", "CASE_TIMEOUT")
    assert result.output == "Hello."
    assert first(blocking, timeout_s=10).passed


def test_a_factory_is_under_the_limit_of_its_case() -> None:
    """A factory that does not return is CASE_TIMEOUT, which says that nothing was sent."""
    over = threading.Event()

    def make() -> Any:
        over.wait(10)
        return lambda prompt: "Hello."

    try:
        result = first(make, timeout_s=0.1)
    finally:
        over.set()
    assert (result.status, result.error and result.error.code) == ("error", "CASE_TIMEOUT")
    assert result.error is not None
    assert "within 100ms; it had sent nothing yet" in result.error.message


def test_a_factory_that_blocks_does_not_block_other_cases() -> None:
    """While a factory blocks, the other cases continue: here it waits for one of them."""
    go = threading.Event()

    def make() -> Any:
        came = go.wait(5)
        return lambda prompt: f"{came}"

    async def other(prompt: str) -> str:
        go.set()
        return "Hello."

    evals = [Eval("slow", greet, target=make_target(make)), Eval("quick", greet, target=make_target(other))]
    report = EvalRunner(concurrency=2, timeout_s=10).run(evals)
    assert [result.output for result in report.results] == ["True", "Hello."]


async def _make() -> Any:
    await asyncio.sleep(0)
    return lambda prompt: f"{prompt}!"


@pytest.mark.parametrize("factory", [_make, lambda: _make()], ids=["async", "plain that returns an awaitable"])
def test_an_async_factory_is_awaited(factory: Any) -> None:
    """An async factory is awaited, and its result is the agent."""
    result = first(factory, timeout_s=10)
    assert (result.status, result.output) == ("passed", "hi!")


async def _hang(prompt: str) -> str:
    if prompt == "hang":
        await asyncio.Event().wait()
    return "Hello."


def test_a_timeout_names_the_last_call() -> None:
    """A case that takes too long is an error that names the limit and its last call."""

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        await t.send("hang")

    def plain(t: Any) -> None:
        t.send("hi")
        t.send("hang")

    evals = [define_eval(name=name)(one) for name, one in (("async", test), ("plain", plain))]
    for result in EvalRunner(agent=_hang, timeout_s=0.2).run(evals).results:
        assert result.error is not None
        assert result.error.code == "CASE_TIMEOUT"
        assert result.error.message.startswith("the case was not done within 200ms; its last call was t.send('hang'). ")
        assert [turn.reply for turn in result.turns] == ["Hello."]
