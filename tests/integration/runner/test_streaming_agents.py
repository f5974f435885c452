"""Agents that yield events: when they are closed, and what is kept if they break."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from remote_evals import EvalContext, EvalResult, EvalRunner, define_eval, equals
from tests.builders import ended, frame, started
from tests.serving.deployments import greet


def first(agent: Any, test: Any = greet) -> EvalResult:
    [result] = EvalRunner(agent=agent, timeout_s=10).run(define_eval(name="a")(test)).results
    return result


def test_an_agent_is_closed_before_anything_is_asserted() -> None:
    """A generator is closed after it yields `run.done`; its cleanup, which may await, ends before `send` returns."""
    done: list[str] = []

    async def agent(prompt: str) -> AsyncIterator[dict[str, Any]]:
        try:
            yield frame("run.done", finishReason="stop", text=prompt)
            done.append("went on")
        finally:
            await asyncio.sleep(0)
            done.append(f"closed {prompt}")

    async def test(t: EvalContext) -> None:
        await t.send("one")
        t.check("closed", list(done), equals(["closed one"]))
        await t.send("two")
        t.check("closed", list(done), equals(["closed one", "closed two"]))

    result = first(agent, test)
    assert result.passed, result.failures


def test_what_an_agent_yielded_before_it_raised_is_kept() -> None:
    """If an agent raises, its reply and calls so far are kept, and its run ends "error" with the file and line."""

    async def agent(prompt: str) -> AsyncIterator[dict[str, Any]]:
        yield frame("step.start", step=1)
        yield started("1", "lookup_order", {"id": "7"})
        yield ended("1", "lookup_order", "shipped")
        yield started("2", "issue_refund")
        yield frame("text.delta", text="Let me ")
        yield frame("text.delta", text="see")
        raise LookupError("no model")

    result = first(agent)
    run = result.run
    assert (result.status, result.error, run.finish_reason, run.reply) == ("failed", None, "error", "Let me see")
    assert [(call.name, call.outcome) for call in run.tool_calls] == [("lookup_order", "ok"), ("issue_refund", None)]
    assert run.timing.first_text_ms is not None
    assert run.error is not None
    assert run.error.name == "LookupError"
    assert run.error.message == f"no model ({__file__}:{agent.__code__.co_firstlineno + 7})"
