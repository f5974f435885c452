"""How far an agent of a run has come, and the call a pause left it at."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from fake_server._wire import Event, without_none
from fake_server.script import Failure, Step, SubAgent, Tool


class Agent:
    """The lead agent, or a sub-agent and its `tag`: the steps still to take, and what came of those taken."""

    def __init__(self, steps: Iterable[Step], tag: Event | None = None, task_id: str = "") -> None:
        self.steps = deque(steps)
        self.tag = tag
        self.task_id = task_id
        self.step = 0
        self.calls = 0
        self.text = ""
        self.failure: Failure | None = None
        self.paused_at: Call | None = None

    @property
    def must_stop(self) -> bool:
        """Whether it takes no further step for now."""
        return self.failure is not None or self.paused_at is not None or not self.steps

    def new_call(self, tool: Tool) -> "Call":
        """Return a call of `tool` under this agent's next id."""
        self.calls += 1
        return Call(f"call_{self.calls}", tool)

    def delegate(self, call: "Call", subagent: SubAgent, task_id: str) -> "Agent":
        """Return the agent that `call` starts."""
        depth = self.tag["depth"] + 1 if self.tag else 1
        tag = {"name": subagent.name, "depth": depth, "toolCallId": call.id}
        more = without_none({"description": subagent.description, "parent": self.tag})
        return Agent(subagent.all_steps(), tag | more, task_id)

    def innermost_call(self) -> "Call | None":
        """Return the call that waits for a decision, be it a sub-agent's."""
        call = self.paused_at
        inner = call.child.innermost_call() if call and call.child else None
        return inner or call


@dataclass
class Call:
    """A tool call; `child` is the agent it delegates to, `later` are the calls of its step that wait for it."""

    id: str
    tool: Tool
    child: Agent | None = None
    later: deque[Tool] = field(default_factory=deque)

    def name_fields(self) -> Event:
        """Return the fields that every event of the call has."""
        return {"toolCallId": self.id, "toolName": self.tool.name}

    def start_fields(self) -> Event:
        """Return the fields of `tool.start` and the events that repeat it."""
        return {**self.name_fields(), "args": self.tool.args}

    def failure(self) -> Failure | None:
        """Return what the call failed with."""
        return self.tool.error or (self.child.failure if self.child else None)

    def result(self) -> object:
        """Return what the call gave: for a sub-agent its last text, or a placeholder while it is paused."""
        child = self.child
        waiting = child.innermost_call() if child else None
        if child is None or child.tag is None or (self.tool.says("result") and not waiting):
            return self.tool.result
        who = f"sub-agent {child.tag['name']!r}"
        if waiting:
            return f"[{who}: paused, awaiting approval of {waiting.tool.name!r}]"
        return f"{child.text}\n\n[{who}: {child.step} step(s), finish reason 'stop', taskId {child.task_id!r}]"
