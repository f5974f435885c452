"""Agents in this process, asked by a runner: every kind of agent, and those that fail."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tulip.agent import Agent
from tulip.memory.backends import MemoryCheckpointer
from tulip.testing import ScriptedModel, text, tool_call
from tulip.tools import tool

from remote_evals import EvalCase, EvalContext, EvalResult, EvalRunner, RunResult, define_eval, equals, make_target
from tests.builders import call, frame
from tests.serving.deployments import greet, named


async def awaited(prompt: str) -> dict[str, str]:
    return {"reply": f"{prompt}!"}


async def awaited_in(prompt: str, session: str) -> str:
    return f"{prompt}! {session}"


def plain_in(prompt: str, session: str) -> str:
    return f"{prompt}! {session}"


async def streamed(prompt: str) -> AsyncIterator[dict[str, Any]]:
    yield frame("step.start", step=1)
    yield frame("text.delta", text=f"{prompt}!")
    yield frame("step.done", step=1)
    yield frame("run.done", finishReason="stop", text=f"{prompt}!")


class Memory:
    """An agent that remembers its prompts."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return ", ".join(self.prompts)


def make_memory() -> Memory:
    return Memory()


@tool
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    if order_id == "0":
        raise LookupError("no such order")
    return f"order {order_id} has shipped"


def make_tulip(*turns: Any, **settings: Any) -> Any:
    """Return a factory of a real agent of the tulip-agents package, whose model says these turns."""
    return lambda: Agent(model=ScriptedModel(list(turns)), tools=[lookup_order], **settings)


def first(agent: Any, case: Any = greet, **settings: Any) -> EvalResult:
    """Return the result of running one case against an agent."""
    runnable = case if isinstance(case, EvalCase) else define_eval(name="a")(case)
    [result] = EvalRunner(agent=agent, **settings).run(runnable).results
    return result


@pytest.mark.parametrize(
    "agent",
    [
        lambda prompt: f"{prompt}!",
        plain_in,
        awaited,
        awaited_in,
        streamed,
        lambda prompt: RunResult(reply=f"{prompt}!", finish_reason="stop"),
        lambda: lambda prompt: f"{prompt}!",
        lambda: awaited,
        lambda: streamed,
        make_tulip("hi!"),
        make_tulip("hi!")(),
    ],
    ids=[
        "plain", "plain with session", "async", "async with session", "events", "a run", "factory",
        "factory of async", "factory of events", "factory of tulip", "tulip",
    ],
)  # fmt: skip
def test_every_kind_of_agent_can_be_asked(agent: Any) -> None:
    """An eval passes against every kind of in-process agent."""
    result = first(agent, EvalCase(name="a", prompt="hi", expected_output_contains=("hi!",)))
    assert result.status == "passed", result
    assert result.duration_ms > 0
    assert result.session_id is not None


@pytest.mark.parametrize("agent", [Memory, make_memory])
def test_a_factory_makes_an_agent_for_each_case(agent: Any) -> None:
    """A class, or a function that makes agents, is called once for each case, and serves all its turns."""

    @define_eval(name="e", agent=agent, cases=[{"input": "a"}, {"input": "b"}])
    async def twice(t: EvalContext, case: dict[str, str]) -> None:
        await t.send(case["input"])
        await t.send("again")
        t.completed()

    assert [result.output for result in EvalRunner().run(twice).results] == ["a, again", "b, again"]


def test_an_agent_itself_is_kept() -> None:
    """An agent that is given directly serves all cases."""
    report = EvalRunner(agent=Memory(), concurrency=1).run(named("a", "b"))
    assert [result.output for result in report.results] == ["a", "a, b"]


def test_each_case_has_its_own_session() -> None:
    """The session that an agent receives is the same in all turns of a case, and differs between cases."""
    seen: list[tuple[str, str]] = []

    def agent(prompt: str, session: str) -> str:
        seen.append((prompt, session))
        return "Hello."

    def find_session(asked: str) -> str:
        [session] = {session for prompt, session in seen if prompt == asked}
        return session

    @define_eval(name="e", agent=agent, cases=[{"input": "a"}, {"input": "b"}])
    async def twice(t: EvalContext, case: dict[str, str]) -> None:
        await t.send(case["input"])
        await t.send(case["input"])
        t.check("session", t.session_id, equals(find_session(case["input"])))

    report = EvalRunner().run(twice)
    assert [result.status for result in report.results] == ["passed", "passed"]
    assert len({session for _, session in seen}) == 2


def test_turns_of_a_case_add_up() -> None:
    """Calls, steps, tokens and cost of all turns add up, and a call knows its turn."""
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "cost_usd": 0.01}

    def agent(prompt: str) -> dict[str, Any]:
        return {"reply": prompt, "steps": 2, "usage": usage, "tool_calls": [{"name": f"do_{prompt}"}]}

    async def twice(t: EvalContext) -> None:
        await t.send("one")
        await t.send("two")
        t.max_steps(4)
        t.max_tokens(30)
        t.max_cost_usd(0.02)
        t.tool_order(["do_one", "do_two"], exact=True)

    result = first(agent, twice)
    assert result.passed, result.failures
    assert (result.iterations, result.run.usage and result.run.usage.total_tokens) == (4, 30)
    assert [(one.name, one.turn) for one in result.run.tool_calls] == [("do_one", 1), ("do_two", 2)]


def test_an_agents_calls_keep_their_sub_agents() -> None:
    """A run that an agent returns can say which sub-agent called a tool."""
    answer = RunResult(finish_reason="stop", tool_calls=(call("search", subagent_path=("researcher",)),))

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        t.called_tool("search", subagent="researcher")
        t.not_called_tool("search", subagent="writer")
        t.check("path", [list(one.subagent_path) for one in t.tool_calls], equals([["researcher"]]))

    assert first(lambda prompt: answer, test).passed


def test_the_transcript_is_what_was_said() -> None:
    """The transcript of an in-process session has every prompt and reply, in order."""
    kept: list[Any] = []

    async def test(t: EvalContext) -> None:
        await t.send("one")
        await t.send("two")
        kept.extend(await t.transcript())
        t.completed()

    first(lambda prompt: f"{prompt}!", test)
    assert [(one["role"], one["content"]) for one in kept] == [
        ("user", "one"), ("assistant", "one!"), ("user", "two"), ("assistant", "two!"),
    ]  # fmt: skip


def test_a_real_agent_says_what_it_did() -> None:
    """The tools, steps and tokens of a real tulip-agents agent are read; its unknown cost is reported as missing."""
    agent = make_tulip(tool_call("lookup_order", order_id="7"), text("Order 7 has shipped."))
    case = EvalCase.model_validate(
        {
            "name": "a",
            "prompt": "Where is order 7?",
            "expect_tools": [{"name": "lookup_order", "args": {"order_id": "7"}}],
            "must_contain": "shipped",
            "max_steps": 2,
            "max_tokens": 60,
        }
    )
    result = first(agent, case)
    assert result.passed, result.failures
    [made] = result.run.tool_calls
    assert (made.outcome, made.result, result.run.finish_reason) == ("ok", "order 7 has shipped", "stop")
    assert result.iterations == 2
    assert result.run.usage is not None
    assert (result.run.usage.input_tokens, result.run.usage.output_tokens) == (20, 40)
    assert result.run.missing == ("cost",)


def test_a_real_agents_tool_may_fail() -> None:
    """A real agent's tool that raises is a call that ended with an error, and the run continues."""
    agent = make_tulip(tool_call("lookup_order", order_id="0"), text("No such order."))
    result = first(agent, EvalCase(name="a", prompt="Where is order 0?"))
    [made] = result.run.tool_calls
    assert (result.status, made.outcome) == ("passed", "error")
    assert made.error is not None
    assert "no such order" in made.error.message


def test_a_real_agent_that_hits_its_limit_did_not_end_normally() -> None:
    """A real agent that is stopped at its step limit fails the case, with finish reason "max-steps"."""
    turns = [tool_call("lookup_order", order_id=str(number), call_id=str(number)) for number in range(1, 9)]
    agent = make_tulip(*turns, max_iterations=2)
    result = first(agent, EvalCase(name="a", prompt="Where is order 7?"))
    assert (result.status, result.run.finish_reason) == ("failed", "max-steps")


def test_a_real_agent_remembers_a_session() -> None:
    """A real agent with a checkpointer gets one thread per case, so that its turns see each other."""
    models: list[ScriptedModel] = []

    def make() -> Any:
        models.append(ScriptedModel(["one", "two"]))
        return Agent(model=models[-1], tools=[], checkpointer=MemoryCheckpointer())

    async def test(t: EvalContext) -> None:
        await t.send("first question")
        await t.send("second question")
        t.completed()

    assert first(make, test).output == "two"
    seen = [message.content for message in models[0].received_messages[1]]
    assert "first question" in seen


class BrokenError(Exception):
    """An exception of an agent's own."""


def _raise(prompt: str) -> str:
    raise BrokenError("no model")


async def _raise_async(prompt: str) -> str:
    raise BrokenError("no model")


async def _raise_in_stream(prompt: str) -> AsyncIterator[dict[str, Any]]:
    yield frame("text.delta", text="Hel")
    raise BrokenError("no model")


@pytest.mark.parametrize("agent", [_raise, _raise_async, _raise_in_stream])
def test_an_agent_that_raises_ends_with_an_error(agent: Any) -> None:
    """An agent that raises ends its run with "error", like a deployed one, and the case fails."""
    result = first(agent)
    assert (result.status, result.error, result.run.finish_reason) == ("failed", None, "error")
    assert result.run.error is not None
    assert result.run.error.name == "BrokenError"
    assert result.run.error.message.startswith(f"no model ({__file__}:")
    assert result.run.reply == ("Hel" if agent is _raise_in_stream else "")
    assert "the run failed: BrokenError: no model" in result.failures[0].message


def test_an_error_can_be_what_an_eval_wants() -> None:
    """The end of a run whose agent raised can be expected like any other."""
    assert first(_raise, EvalCase(name="a", prompt="hi", finish_reason="error")).passed


def test_an_agent_whose_iterator_is_exhausted_ends_with_an_error() -> None:
    """An agent that raises `StopIteration`, as an exhausted script of answers does, hangs nothing."""
    answers = iter(["one"])

    async def twice(t: EvalContext) -> None:
        await t.send("hi")
        await t.send("hi")
        t.completed()

    result = first(lambda prompt: next(answers), twice, timeout_s=2)
    assert (result.status, result.run.finish_reason, len(result.turns)) == ("failed", "error", 2)


def test_an_agent_that_exits_ends_its_own_case_alone() -> None:
    """An agent that calls `sys.exit` fails only its own case, and the others run."""

    def leave(prompt: str) -> str:
        if prompt == "b":
            raise SystemExit(3)
        return "Hello."

    report = EvalRunner(agent=leave, concurrency=1, timeout_s=5).run(named("a", "b", "c"))
    assert [result.passed for result in report.results] == [True, False, True]


@pytest.mark.parametrize("given", [None, 3, {"replly": "x"}, {"reply": "x", "tool_calls": ["lookup"]}])
def test_an_agent_that_returns_nonsense_is_told(given: Any) -> None:
    """An invalid return value is an error of the case, which says what an agent must return."""
    result = first(lambda prompt: given)
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code == "USAGE"
    assert "an agent" in result.error.message


def test_what_is_no_agent_is_told() -> None:
    """An object that is not an agent is an error, which says what is accepted."""
    result = first(3)
    assert result.error is not None
    assert "a int is no agent: give a callable" in result.error.message


def test_a_factory_that_raises_is_an_error_of_its_case() -> None:
    """A factory that raises is an error of each case, which says what it raised, and the run continues."""

    def make() -> Any:
        raise BrokenError("no model")

    report = EvalRunner(agent=make).run(named("a", "b"))
    assert [result.status for result in report.results] == ["error", "error"]
    for result in report.results:
        assert result.error is not None
        assert "BrokenError: no model" in result.error.message


def test_a_called_agent_gets_content_parts_as_they_are() -> None:
    """A prompt of content parts reaches a called agent unchanged, and names a case by its text."""
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image", "url": "https://img.test/1.png"}]
    got: list[Any] = []

    def agent(prompt: Any) -> str:
        got.append(prompt)
        return "A lamp."

    async def test(t: EvalContext, case: Any) -> None:
        await t.send(case["input"])
        t.completed()

    evals = define_eval(name="a", cases=[{"input": parts}], agent=agent)(test).make_evals()
    assert EvalRunner().run(evals).pass_rate == 1.0
    assert [eval_.name for eval_ in evals] == ["a / What is this? [image]"]
    assert got == [parts]


@pytest.mark.parametrize("verb", ["approve", "reject", "answer"])
def test_a_call_in_process_takes_no_decision(verb: str) -> None:
    """A called agent cannot take a decision: that is an error that says to give its ASGI app instead."""
    paused = {
        "finish_reason": "awaiting-approval",
        "pending_approval": {"approval_id": "1", "tool_call_id": "c", "tool": "refund"},
    }

    async def test(t: EvalContext) -> None:
        await t.send("refund")
        await (t.answer("Visa") if verb == "answer" else getattr(t, verb)())

    result = first(lambda prompt: paused, test)
    assert result.error is not None
    assert (result.status, result.error.code) == ("error", "USAGE")
    assert "give its ASGI app" in result.error.message
    assert len(result.turns) == 1


async def test_an_agent_that_hangs_is_given_up() -> None:
    """An agent that exceeds the time limit of its case is an error, and is cancelled."""
    cancelled = asyncio.Event()

    async def hang(prompt: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return "never"

    [result] = (await EvalRunner(agent=hang, timeout_s=0.1).arun(named("a"))).results
    assert (result.status, result.error and result.error.code) == ("error", "CASE_TIMEOUT")
    await asyncio.wait_for(cancelled.wait(), 5)


def test_plain_agents_run_concurrently() -> None:
    """As many plain agents run at once as the runner allows."""
    together = threading.Barrier(4, timeout=10)

    def agent(prompt: str) -> str:
        together.wait()
        return "Hello."

    report = EvalRunner(agent=agent, concurrency=4).run(named(*"abcd"))
    assert report.passed == 4


def test_the_report_names_the_agent() -> None:
    """The target of a report is the agent's name."""
    report = EvalRunner(agent=plain_in).run(named("a"))
    assert report.target == "in process: plain_in"


def test_a_target_can_be_made_of_an_agent() -> None:
    """`make_target` returns a target for an agent, which a runner accepts."""
    assert EvalRunner(make_target(plain_in)).run(named("a")).passed == 1
