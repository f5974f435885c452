"""Agents at work: steps, text and tool calls turned into events on a timeline."""

import re
from collections import deque
from collections.abc import Iterable
from itertools import takewhile
from typing import cast
from uuid import uuid4

from fake_server._agent import Agent, Call
from fake_server._decision import Decision, decide
from fake_server._spending import Spending
from fake_server._timeline import Timeline
from fake_server._wire import Event, failure_fields, without_none
from fake_server.script import Reply, Step, Tool

_CUTS = {"word": re.compile(r"\S+\s*|\s+"), "char": re.compile(r".", re.DOTALL), "whole": re.compile(r".+", re.DOTALL)}


class Player:
    """Plays the agents of one turn."""

    def __init__(self, reply: Reply, spending: Spending) -> None:
        self.approval_id: str | None = None
        self._cut = _CUTS[reply.delta]
        self._delay_s = reply.delay
        self._spending = spending
        self._tasks = 0

    def work(self, agent: Agent, line: Timeline) -> None:
        """Take the steps of `agent` up to its end, its failure or a pause."""
        while not agent.must_stop:
            step = agent.steps.popleft()
            agent.step += 1
            agent.text = step.text
            line.add("step.start", step=agent.step)
            self._speak(step, line)
            self._act(agent, step, line)
            usage = self._spending.of_step(step)
            line.add("step.done", step=agent.step, finishReason=_step_reason(agent, step), **usage)

    def settle(self, agent: Agent, decision: Decision, line: Timeline) -> None:
        """Carry out `decision` on the call `agent` waits at, or pass it on to the sub-agent that waits."""
        call = cast("Call", agent.paused_at)
        agent.paused_at = None
        line.add("tool.resume", **call.start_fields())
        if call.child is None:
            call.tool = decide(call.tool, decision)
            self._execute(agent, call, line)
        else:
            self._settle_child(agent, call, call.child, decision, line)
        self._call_tools(agent, call.later, line)
        self._request_approval(agent, line)

    def _settle_child(self, agent: Agent, call: Call, child: Agent, decision: Decision, line: Timeline) -> None:
        began_s = line.now_s
        inner = line.branch(child.tag)
        self.settle(child, decision, inner)
        self.work(child, inner)
        line.join([inner])
        if child.paused_at:
            agent.paused_at = call
        else:
            self._report(call, line, began_s)

    def _speak(self, step: Step, line: Timeline) -> None:
        if step.reasoning is not None:
            line.add("reasoning.start")
            self._stream("reasoning", step.reasoning, line)
            line.add("reasoning.done", text=step.reasoning)
        if step.text:
            self._stream("text", step.text, line)
            if not step.error:
                line.add("text.done", text=step.text)

    def _stream(self, kind: str, text: str, line: Timeline) -> None:
        for piece in self._cut.findall(text):
            line.wait(self._delay_s)
            line.add(f"{kind}.delta", text=piece)

    def _act(self, agent: Agent, step: Step, line: Timeline) -> None:
        if step.error:
            agent.failure = step.error
            line.add("error", error=failure_fields(step.error))
        self._call_tools(agent, deque([] if step.error else step.tools), line)
        self._request_approval(agent, line)

    def _call_tools(self, agent: Agent, tools: deque[Tool], line: Timeline) -> None:
        while tools and not agent.paused_at:
            batch = list(takewhile(lambda tool: not _can_pause(tool), tools))
            self._call_in_parallel(agent, [tools.popleft() for _ in batch], line)
            if tools:
                self._call_alone(agent, tools, line)

    def _call_in_parallel(self, agent: Agent, tools: Iterable[Tool], line: Timeline) -> None:
        calls = [agent.new_call(tool) for tool in tools]
        for call in calls:
            line.add("tool.start", **call.start_fields())
        branches = [line.branch() for _ in calls]
        for call, branch in zip(calls, branches, strict=True):
            self._execute(agent, call, branch)
        line.join(branches)

    def _call_alone(self, agent: Agent, tools: deque[Tool], line: Timeline) -> None:
        call = agent.new_call(tools.popleft())
        call.later = tools
        line.add("tool.start", **call.start_fields())
        if call.tool.is_gated:
            agent.paused_at = call
        else:
            self._execute(agent, call, line)

    def _execute(self, agent: Agent, call: Call, line: Timeline) -> None:
        began_s = line.now_s
        line.wait(call.tool.duration)
        if call.tool.subagent:
            self._tasks += 1
            call.child = agent.delegate(call, call.tool.subagent, f"task_{self._tasks}")
            inner = line.branch(call.child.tag)
            self.work(call.child, inner)
            line.join([inner])
            if call.child.paused_at:
                agent.paused_at = call
        self._report(call, line, began_s)

    def _report(self, call: Call, line: Timeline, began_s: float) -> None:
        took: Event = {"durationMs": round((line.now_s - began_s) * 1000)}
        failure = call.failure()
        if failure:
            line.add("tool.error", **call.name_fields(), error=failure_fields(failure), **took)
        else:
            line.add("tool.done", **call.name_fields(), result=call.result(), **took)

    def _request_approval(self, agent: Agent, line: Timeline) -> None:
        # a sub-agent's pause is the whole run's, which alone reports it
        call = None if agent.tag else agent.innermost_call()
        if call:
            self.approval_id = str(uuid4())
            line.add("approval.requested", approvalId=self.approval_id, **call.start_fields(), **_asked(call.tool))


def _can_pause(tool: Tool) -> bool:
    return tool.is_gated or (tool.subagent is not None and tool.subagent.can_pause())


def _asked(tool: Tool) -> Event:
    if tool.question is None:
        return {}
    asked = tool.question
    fields = {"text": asked.text, "options": asked.options, "allowFreeText": asked.allow_free_text}
    return {"kind": "question", "question": without_none(fields)}


def _step_reason(agent: Agent, step: Step) -> str:
    if step.error:
        return "error"
    if agent.paused_at:
        return "awaiting-approval"
    return step.finish_reason or ("tool_calls" if step.tools else "stop")
