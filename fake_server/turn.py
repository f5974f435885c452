"""One turn of a session: from a reply of the script to the events of its run and of its continuations."""

import re
from collections import deque
from collections.abc import Iterable
from itertools import takewhile
from typing import cast

from fake_server.agents import Agent, Call, Decision, Request, apply_decision, make_request
from fake_server.events import Event, TimedEvent, Timeline, make_error_fields
from fake_server.script import Failure, Reply, Step, Tool
from fake_server.usage import TurnUsage

_DELTAS = {
    "word": re.compile(r"\S+\s*|\s+"),
    "char": re.compile(r".", re.DOTALL),
    "whole": re.compile(r".+", re.DOTALL),
}


class Turn:
    """A turn from its input to the `run.done` that ends it, over all its pauses."""

    def __init__(self, reply: Reply, text: str, identity: Event) -> None:
        self._reply = reply
        self._identity = identity
        self._lead = Agent(reply.all_steps())
        self._usage = TurnUsage(reply, text)
        self._player = _Player(reply, self._usage)

    @property
    def requests(self) -> list[Request]:
        """The requests that the turn waits for, in the order in which they were made."""
        return [request for request in self._lead.list_requests() if request.decision is None]

    @property
    def pauses_together(self) -> bool:
        """Whether a step may pause on several calls, as on newer servers."""
        return self._reply.pauses != "one-by-one"

    def find_request(self, approval_id: str) -> Request | None:
        """Return the request of this pause with this id, decided or not, or None."""
        return next((request for request in self._lead.list_requests() if request.id == approval_id), None)

    @property
    def text(self) -> str | None:
        """The reply of a turn that ended well, else None."""
        return None if self._lead.failure or self._lead.paused_at else self._lead.text

    def start(self) -> list[TimedEvent]:
        """Return the events up to the end of the turn or its first pause."""
        timeline = self._begin()
        for event in self._reply.events:
            timeline.add(event["type"], **{key: value for key, value in event.items() if key != "type"})
        return self._finish(timeline)

    def resume(self, request: Request, decision: Decision) -> list[TimedEvent]:
        """Return the events from the decision up to the end or the next pause; at once, if others are still open."""
        request.decide(decision)
        timeline = self._begin()
        if not self.requests:
            self._player.settle(self._lead, timeline)
            return self._finish(timeline)
        for still_open in self.requests if self._reply.pauses == "together-repeated" else ():
            timeline.add("approval.requested", **still_open.fields)
        timeline.add("run.done", **self._make_outcome())
        return timeline.events

    def _begin(self) -> Timeline:
        timeline = Timeline()
        timeline.add("run.start", **self._identity)
        return timeline

    def _finish(self, timeline: Timeline) -> list[TimedEvent]:
        self._player.run_steps(self._lead, timeline)
        timeline.add("run.done", **self._make_outcome())
        return timeline.events

    def _make_outcome(self) -> Event:
        if self._lead.failure:
            return {"finishReason": "error", "text": ""}
        if self._lead.paused_at:
            return {"finishReason": "awaiting-approval", "text": "", **self._usage.make_run_fields(is_over=False)}
        fields = {"finishReason": self._reply.finish_reason, "text": self._lead.text}
        optional = {"object": self._reply.object} if self._reply.gives("object") else {}
        return {**fields, **self._usage.make_run_fields(is_over=True), **optional}


def make_refused_run(name: str, message: str, code: str) -> list[TimedEvent]:
    """Return the events of a run that fails before it starts: it has no `run.start`."""
    timeline = Timeline()
    timeline.add("error", error=make_error_fields(Failure(name=name, message=message, code=code)))
    timeline.add("run.done", finishReason="error", text="")
    return timeline.events


class _Player:
    """Turns the steps, texts and tool calls of one turn's agents into events on a timeline."""

    def __init__(self, reply: Reply, usage: TurnUsage) -> None:
        self._delta = _DELTAS[reply.delta]
        self._delay_s = reply.delay
        self._pauses_together = reply.pauses != "one-by-one"
        self._usage = usage
        self._tasks = 0

    def run_steps(self, agent: Agent, timeline: Timeline) -> None:
        """Take the steps of `agent` until its end, its failure or a pause."""
        while not agent.must_stop:
            step = agent.steps.popleft()
            agent.steps_taken += 1
            agent.text = step.text
            timeline.add("step.start", step=agent.steps_taken)
            self._emit_texts(step, timeline)
            if step.error:
                agent.failure = step.error
                timeline.add("error", error=make_error_fields(step.error))
            else:
                self._call_tools(agent, deque(step.tools), timeline)
                self._request_approval(agent, timeline)
            finish_reason, usage = _get_finish_reason(agent, step), self._usage.add_step(step)
            timeline.add("step.done", step=agent.steps_taken, finishReason=finish_reason, **usage)

    def settle(self, agent: Agent, timeline: Timeline) -> None:
        """Apply the decisions to the calls that `agent` is paused at, or in the sub-agent that waits for them."""
        call = cast("Call", agent.paused_at)
        agent.paused_at = None
        for decided in (call, *call.beside):
            if decided.request and decided.request.decision:
                decided.tool = apply_decision(decided.tool, decided.request.decision)
            timeline.add("tool.resume", **decided.start_fields())
            if decided.child is None:
                self._execute(agent, decided, timeline)
            else:
                self._settle_child(agent, decided, decided.child, timeline)
        self._call_tools(agent, call.later_tools, timeline)
        self._request_approval(agent, timeline)

    def _settle_child(self, agent: Agent, call: Call, child: Agent, timeline: Timeline) -> None:
        began_s = timeline.now_s
        inner = timeline.branch(child.tag)
        self.settle(child, inner)
        self.run_steps(child, inner)
        timeline.join([inner])
        if child.paused_at:
            agent.paused_at = call
        else:
            self._report(call, timeline, began_s)

    def _emit_texts(self, step: Step, timeline: Timeline) -> None:
        if step.reasoning is not None:
            timeline.add("reasoning.start")
            self._emit_deltas("reasoning", step.reasoning, timeline)
            timeline.add("reasoning.done", text=step.reasoning)
        if step.text:
            self._emit_deltas("text", step.text, timeline)
            if not step.error:
                timeline.add("text.done", text=step.text)

    def _emit_deltas(self, kind: str, text: str, timeline: Timeline) -> None:
        for piece in self._delta.findall(text):
            timeline.wait(self._delay_s)
            timeline.add(f"{kind}.delta", text=piece)

    def _call_tools(self, agent: Agent, tools: deque[Tool], timeline: Timeline) -> None:
        while tools and not agent.paused_at:
            batch = list(takewhile(lambda tool: not tool.can_pause, tools))
            self._call_in_parallel(agent, [tools.popleft() for _ in batch], timeline)
            if tools:
                self._call_alone(agent, tools, timeline)

    def _call_in_parallel(self, agent: Agent, tools: Iterable[Tool], timeline: Timeline) -> None:
        calls = [agent.make_call(tool) for tool in tools]
        for call in calls:
            timeline.add("tool.start", **call.start_fields())
        branches = [timeline.branch() for _ in calls]
        for call, branch in zip(calls, branches, strict=True):
            self._execute(agent, call, branch)
        timeline.join(branches)

    def _call_alone(self, agent: Agent, tools: deque[Tool], timeline: Timeline) -> None:
        call = agent.make_call(tools.popleft())
        call.later_tools = tools
        timeline.add("tool.start", **call.start_fields())
        if call.tool.is_gated:
            agent.paused_at = call
            is_beside = self._pauses_together and not call.tool.subagent
            while is_beside and tools and tools[0].is_gated and not tools[0].subagent:
                call.beside.append(agent.make_call(tools.popleft()))
                timeline.add("tool.start", **call.beside[-1].start_fields())
        else:
            self._execute(agent, call, timeline)

    def _execute(self, agent: Agent, call: Call, timeline: Timeline) -> None:
        began_s = timeline.now_s
        timeline.wait(call.tool.duration)
        if call.tool.subagent:
            self._tasks += 1
            call.child = agent.delegate(call, call.tool.subagent, f"task_{self._tasks}")
            inner = timeline.branch(call.child.tag)
            self.run_steps(call.child, inner)
            timeline.join([inner])
            if call.child.paused_at:
                agent.paused_at = call
        self._report(call, timeline, began_s)

    def _report(self, call: Call, timeline: Timeline, began_s: float) -> None:
        duration: Event = {"durationMs": round((timeline.now_s - began_s) * 1000)}
        failure = call.failure()
        if failure:
            timeline.add("tool.error", **call.name_fields(), error=make_error_fields(failure), **duration)
        else:
            timeline.add("tool.done", **call.name_fields(), result=call.result(), **duration)

    def _request_approval(self, agent: Agent, timeline: Timeline) -> None:
        # only the lead agent reports a pause, even that of a sub-agent
        first = None if agent.tag else agent.find_pending_call()
        for call in (first, *first.beside) if first else ():
            call.request = make_request(call)
            timeline.add("approval.requested", **call.request.fields)


def _get_finish_reason(agent: Agent, step: Step) -> str:
    if step.error:
        return "error"
    if agent.paused_at:
        return "awaiting-approval"
    return step.finish_reason or ("tool_calls" if step.tools else "stop")
