"""A call on `t` that is not awaited is reported as such, and never passes for a turn."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from remote_evals import EvalContext, EvalResult, EvalRunner, define_eval

Forget = Callable[[EvalContext], Any]


def ask(test: Any) -> tuple[EvalResult, list[str]]:
    """Return the result of a test, and the prompts that reached its agent."""
    prompts: list[str] = []

    async def agent(prompt: str) -> str:
        prompts.append(prompt)
        return f"{prompt}!"

    [result] = EvalRunner(agent=agent, timeout_s=10).run(define_eval(name="a")(test)).results
    return result, prompts


@pytest.mark.parametrize(
    ("call", "forget"),
    [
        ("t.send('more')", lambda t: t.send("more")),
        ("t.approve()", lambda t: t.approve()),
        ("t.reject('why')", lambda t: t.reject("why")),
        ("t.answer(text='Visa')", lambda t: t.answer(text="Visa")),
        ("t.judge('Is polite.')", lambda t: t.judge("Is polite.")),
        ("t.grade('Is polite.', 0.5)", lambda t: t.grade("Is polite.", 0.5)),
        ("t.transcript()", lambda t: t.transcript()),
    ],
)
def test_a_forgotten_await_is_reported(call: str, forget: Forget) -> None:
    """A call that was not awaited does nothing, and is an error that names the call, its file and its line."""

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        forget(t)
        t.completed()

    result, prompts = ask(test)
    assert (result.status, result.error and result.error.code) == ("error", "EVAL_FAILED")
    assert result.error is not None
    place = f"{__file__}:{forget.__code__.co_firstlineno}"
    verb = call.partition("(")[0]
    assert result.error.message == f"{call} at {place} was not awaited, so it did nothing; write `await {verb}(…)`"
    assert [made.passed for made in result.assertions] == [True]
    assert prompts == ["hi"]


def test_a_forgotten_await_is_reported_in_place_of_what_it_caused() -> None:
    """If a test uses the call as its result and raises, the missing `await` is reported instead of the exception."""

    async def test(t: EvalContext) -> None:
        assert t.send("hi").reply == "hi!"  # type: ignore[attr-defined]  # this is what is wrong with it

    result, prompts = ask(test)
    assert result.error is not None
    assert result.error.code == "EVAL_FAILED"
    assert result.error.message.startswith(f"t.send('hi') at {__file__}:")
    assert "`await t.send(…)`" in result.error.message
    assert prompts == []


def test_a_long_call_is_shortened() -> None:
    """A forgotten call with a long prompt is reported with the start of the prompt."""

    async def test(t: EvalContext) -> None:
        t.send("x" * 500)

    result, _ = ask(test)
    assert result.error is not None
    assert result.error.message.startswith(f"t.send('{'x' * 58}…) at ")


async def by_task(t: EvalContext) -> None:
    await asyncio.create_task(t.send("one"))
    t.completed()


async def by_gather(t: EvalContext) -> None:
    await asyncio.gather(t.send("one"), t.transcript())
    t.completed()


async def by_group(t: EvalContext) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(t.send("one"))
    t.completed()


async def by_timeout(t: EvalContext) -> None:
    await asyncio.wait_for(t.send("one"), 10)
    t.completed()


async def kept_for_later(t: EvalContext) -> None:
    call = t.send("one")
    await call
    t.completed()


@pytest.mark.parametrize("test", [by_task, by_gather, by_group, by_timeout, kept_for_later])
def test_a_call_can_be_awaited_in_every_way_that_asyncio_has(test: Any) -> None:
    """Like a coroutine, a call can be awaited later, as a task, in a group, in a gather, or with a timeout."""
    result, prompts = ask(test)
    assert (result.status, result.error) == ("passed", None)
    assert prompts == ["one"]
