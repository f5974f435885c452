"""The kinds of agent that can be called in this process."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from remote_evals import RunResult, UsageError
from remote_evals.targets.agents import is_asgi_app, is_factory, make_ask
from tests.builders import ended, frame, started


def plain(prompt: str) -> str:
    return f"plain {prompt}"


def with_session(prompt: str, conversation: str) -> str:
    return f"{prompt} in {conversation}"


def with_keyword(prompt: str, *, session: str) -> str:
    return f"{prompt} in {session}"


def with_default(prompt: str, style: str = "polite") -> str:
    return f"{prompt} {style}"


async def awaited(prompt: str) -> str:
    return f"awaited {prompt}"


async def awaited_with_session(prompt: str, session: str) -> str:
    return f"awaited {prompt} in {session}"


async def events(prompt: str) -> AsyncIterator[dict[str, Any]]:
    yield frame("step.start", step=1)
    yield started("1", "lookup", {"q": prompt})
    yield ended("1", "lookup", "found")
    yield frame("text.delta", text="Hel")
    yield frame("text.delta", text="lo.")
    yield frame("step.done", step=1)
    yield frame("run.done", finishReason="stop", text="Hello.")
    raise AssertionError("nobody asks for what stands behind the end")


class Callable:
    def __call__(self, prompt: str) -> str:
        return f"called {prompt}"


class AsyncCallable:
    async def __call__(self, prompt: str, session: str) -> str:
        return f"called {prompt} in {session}"


class Streaming:
    async def __call__(self, prompt: str) -> AsyncIterator[dict[str, Any]]:
        yield frame("run.done", finishReason="stop", text=f"streamed {prompt}")


class Sync:
    def run_sync(self, prompt: str, *, thread_id: str | None = None) -> str:
        return f"sync {prompt} in {thread_id}"


class Async(Sync):
    async def arun(self, prompt: str, *, thread_id: str | None = None) -> str:
        return f"async {prompt} in {thread_id}"


def stream_of(prompt: str) -> AsyncIterator[dict[str, Any]]:
    return events(prompt)


@pytest.mark.parametrize(
    ("agent", "reply"),
    [
        (plain, "plain hi"),
        (with_session, "hi in s-1"),
        (with_keyword, "hi in s-1"),
        (with_default, "hi polite"),
        (partial(with_session, conversation="own"), "hi in own"),
        (awaited, "awaited hi"),
        (awaited_with_session, "awaited hi in s-1"),
        (lambda prompt: awaited(prompt), "awaited hi"),
        (Callable(), "called hi"),
        (AsyncCallable(), "called hi in s-1"),
        (Streaming(), "streamed hi"),
        (Sync(), "sync hi in s-1"),
        (Async(), "async hi in s-1"),
        (events, "Hello."),
        (stream_of, "Hello."),
        (lambda prompt: {"text": prompt}, "hi"),
        (lambda prompt: RunResult(reply=prompt, finish_reason="stop"), "hi"),
    ],
)
async def test_every_kind_of_agent_answers(agent: Any, reply: str) -> None:
    """Whatever an agent is, it is given the prompt, and the session where it takes one, and its reply is read."""
    answer = await make_ask(agent)("hi", "s-1", 1)
    assert (answer.result.reply, answer.result.finish_reason) == (reply, "stop")


async def test_a_plain_agent_does_not_hold_up_the_others() -> None:
    """Agents that block run beside each other: two that wait for one another both come to their end."""
    import threading

    together = threading.Barrier(2, timeout=5)

    def wait(prompt: str) -> str:
        together.wait()
        return prompt

    ask = make_ask(wait)
    answers = await asyncio.gather(ask("a", "s", 1), ask("b", "s", 1))
    assert [answer.result.reply for answer in answers] == ["a", "b"]


async def test_events_rebuild_to_a_run() -> None:
    """What an agent yields is read as the stream of a deployment is, with its own timing."""
    answer = await make_ask(events)("hi", "s-1", 2)
    [call] = answer.result.tool_calls
    assert (call.name, call.args, call.outcome, call.turn) == ("lookup", {"q": "hi"}, "ok", 2)
    assert (answer.result.steps, answer.is_timed) == (1, True)
    assert answer.result.timing.first_text_ms is not None


async def test_events_without_an_end_are_a_run_without_an_end() -> None:
    """A generator that stops before `run.done` gives a run that did not end, as a stream that breaks off does."""

    async def stop(prompt: str) -> AsyncIterator[dict[str, Any]]:
        yield frame("text.delta", text="Hel")

    answer = await make_ask(stop)("hi", "s", 1)
    assert (answer.result.finish_reason, answer.result.reply) == (None, "Hel")


async def test_an_agent_that_yields_text_is_told_what_to_yield() -> None:
    """What is yielded must be events of the wire."""

    async def words(prompt: str) -> AsyncIterator[str]:
        yield "Hello."

    with pytest.raises(UsageError, match=r"must yield the events of the wire, as mappings, got 'Hello\.'"):
        await make_ask(words)("hi", "s", 1)


@pytest.mark.parametrize("agent", ["hi", 3, None, object()])
def test_what_is_no_agent_is_a_usage_error(agent: Any) -> None:
    """What cannot be asked is refused, and the message says what can."""
    with pytest.raises(UsageError, match="is no agent: give a callable"):
        make_ask(agent)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer nothing."""


class App:
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer nothing."""


class Needs:
    def __init__(self, model: str) -> None:
        """Need a model."""

    def __call__(self, prompt: str) -> str:
        return prompt


class Optional(Needs):
    def __init__(self, model: str = "m") -> None:
        super().__init__(model)


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (Callable, True),
        (Optional, True),
        (lambda: plain, True),
        (partial(Needs, "m"), True),
        (plain, False),
        (with_default, False),
        (Callable(), False),
        (Async(), False),
        (Needs, False),
        (events, False),
        (app, False),
        (lambda *words: "x", False),
        (lambda prompt="hi": prompt, False),
    ],
)
def test_a_factory_is_told_from_an_agent(agent: Any, expected: bool) -> None:
    """What is called without anything makes an agent; what takes a prompt is one."""
    assert is_factory(agent) is expected


@pytest.mark.parametrize(("agent", "expected"), [(app, True), (App(), True), (plain, False), ("x", False)])
def test_an_asgi_app_is_told_from_an_agent(agent: Any, expected: bool) -> None:
    """An ASGI app takes scope, receive and send."""
    assert is_asgi_app(agent) is expected
