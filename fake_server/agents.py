"""The agents of a run, their tool calls, and what a decision makes of a call that waits for one."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from fake_server.events import Event, without_none
from fake_server.script import Failure, Question, Step, SubAgent, Tool

_REJECTED = Failure(name="ToolRejectedError", message="Tool execution was rejected by the reviewer")
_DECLINED = Failure(name="ToolRejectedError", message="The user declined to answer the question")


class Agent:
    """The lead agent, or a sub-agent with its `tag`: the steps it has yet to take, and the results so far."""

    def __init__(self, steps: Iterable[Step], tag: Event | None = None, task_id: str = "") -> None:
        self.steps = deque(steps)
        self.tag = tag
        self.task_id = task_id
        self.steps_taken = 0
        self.text = ""
        self.failure: Failure | None = None
        self.paused_at: Call | None = None
        self._calls = 0

    @property
    def must_stop(self) -> bool:
        """Whether it takes no further step for now."""
        return self.failure is not None or self.paused_at is not None or not self.steps

    def make_call(self, tool: Tool) -> "Call":
        """Return a call of `tool` with this agent's next call id."""
        self._calls += 1
        return Call(f"call_{self._calls}", tool)

    def delegate(self, call: "Call", subagent: SubAgent, task_id: str) -> "Agent":
        """Return the agent that `call` starts."""
        depth = self.tag["depth"] + 1 if self.tag else 1
        tag = {"name": subagent.name, "depth": depth, "toolCallId": call.id}
        optional = without_none({"description": subagent.description, "parent": self.tag})
        return Agent(subagent.all_steps(), tag | optional, task_id)

    def find_pending_call(self) -> "Call | None":
        """Return the call that waits for a decision, which may be a sub-agent's, or None."""
        call = self.paused_at
        inner = call.child.find_pending_call() if call and call.child else None
        return inner or call

    def list_requests(self) -> "list[Request]":
        """Return the requests of the pause, decided or not, in the order in which they were made."""
        call = self.find_pending_call()
        return [one.request for one in ([call, *call.beside] if call else []) if one.request]


@dataclass
class Call:
    """A tool call; `child` is the agent it delegates to, `later_tools` are the tools of its step that wait for it.

    `beside` are the calls that wait for a decision together with it, and `request` is what it waits for itself.
    """

    id: str
    tool: Tool
    child: Agent | None = None
    beside: "list[Call]" = field(default_factory=list)
    request: "Request | None" = None
    later_tools: deque[Tool] = field(default_factory=deque)

    def name_fields(self) -> Event:
        """Return the fields that every event of the call has."""
        return {"toolCallId": self.id, "toolName": self.tool.name}

    def start_fields(self) -> Event:
        """Return the fields of `tool.start` and of the events that repeat it."""
        return {**self.name_fields(), "args": self.tool.args}

    def failure(self) -> Failure | None:
        """Return the error that the call failed with, or None."""
        return self.tool.error or (self.child.failure if self.child else None)

    def result(self) -> object:
        """Return the result of the call: for a sub-agent its last text, or a placeholder while it is paused."""
        child = self.child
        pending = child.find_pending_call() if child else None
        if child is None or child.tag is None or (self.tool.gives("result") and not pending):
            return self.tool.result
        label = f"sub-agent {child.tag['name']!r}"
        if pending:
            return f"[{label}: paused, awaiting approval of {pending.tool.name!r}]"
        return f"{child.text}\n\n[{label}: {child.steps_taken} step(s), finish reason 'stop', taskId {child.task_id!r}]"


@dataclass(frozen=True)
class Decision:
    """An approval, perhaps with other arguments, a rejection, or the answer to a question."""

    approved: bool
    answer: str | None = None
    args: Event | None = None


@dataclass
class Request:
    """A request for a decision, as the client has got it, and the decision once it is made."""

    fields: Event
    expires_at: datetime | None = None
    decision: Decision | None = None
    too_early: int = 0

    @property
    def id(self) -> str:
        """The id of the approval."""
        return str(self.fields["approvalId"])

    def awaits_sign_in(self) -> bool:
        """Return whether the user has not signed in yet, and count the decision that came too early."""
        self.too_early -= 1
        return self.too_early >= 0

    def decide(self, decision: Decision) -> None:
        """Keep the decision; an approval that comes too late is a denial."""
        is_late = self.expires_at is not None and datetime.now(UTC) > self.expires_at
        self.decision = Decision(approved=False) if is_late else decision


def make_request(call: Call) -> Request:
    """Return the request for a decision on `call`."""
    tool, expires_at = call.tool, None
    fields: Event = {"approvalId": str(uuid4()), **call.start_fields()}
    if tool.question:
        asked = {"text": tool.question.text, "options": tool.question.options}
        fields |= {
            "kind": "question",
            "question": without_none(asked | {"allowFreeText": tool.question.allow_free_text}),
        }
    if tool.sign_in:
        fields |= {"kind": "sign-in", "signIn": {"provider": tool.sign_in.provider, "url": tool.sign_in.url}}
    if tool.expires is not None:
        expires_at = datetime.now(UTC) + timedelta(seconds=tool.expires)
        fields["expiresAt"] = expires_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Request(fields, expires_at, too_early=tool.sign_in.too_early if tool.sign_in else 0)


def parse_decision(body: object) -> Decision | None:
    """Return the decision in a request body, or None if it has none."""
    fields = body if isinstance(body, dict) else {}
    answer, approved = fields.get("answer"), fields.get("approved")
    if isinstance(answer, str):
        return Decision(approved=True, answer=answer)
    args = fields.get("args")
    if not isinstance(approved, bool) or not (args is None or isinstance(args, dict)):
        return None
    return Decision(approved, args=args)


def apply_decision(tool: Tool, decision: Decision) -> Tool:
    """Return `tool` with the outcome that `decision` gives it."""
    if not decision.approved:
        failure = _DECLINED if tool.question else _REJECTED
        return tool.model_copy(update={"error": failure, "duration": 0.0, "subagent": None})
    if decision.args is not None:
        tool = tool.model_copy(update={"args": decision.args})
    if tool.question and not tool.gives("result"):
        return tool.model_copy(update={"result": _make_answer(tool.question, decision.answer or "")})
    return tool


def _make_answer(question: Question, answer: str) -> dict[str, Any]:
    options = [option.casefold() for option in question.options or []]
    chosen = answer.casefold()
    return {"answer": answer, **({"option": options.index(chosen)} if chosen in options else {})}
