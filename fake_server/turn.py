"""One turn of a session: from a reply of the script to the events of its run and of its continuations."""

from fake_server._agent import Agent
from fake_server._decision import Decision
from fake_server._player import Player
from fake_server._spending import Spending
from fake_server._timeline import Timed, Timeline
from fake_server._wire import Event, failure_fields
from fake_server.script import Failure, Reply


class Turn:
    """A turn from its input to the `run.done` that ends it for good, over all its pauses."""

    def __init__(self, reply: Reply, text: str, identity: Event) -> None:
        self._reply = reply
        self._identity = identity
        self._lead = Agent(reply.all_steps())
        self._spending = Spending(reply, text)
        self._player = Player(reply, self._spending)

    @property
    def approval_id(self) -> str | None:
        """The approval it waits for."""
        return self._player.approval_id if self._lead.paused_at else None

    @property
    def text(self) -> str | None:
        """The reply of a turn that ended well."""
        return None if self._lead.failure or self._lead.paused_at else self._lead.text

    def start(self) -> list[Timed]:
        """Return the events up to the end of the turn or its first pause."""
        line = self._begin()
        for event in self._reply.events:
            line.add(event["type"], **{key: value for key, value in event.items() if key != "type"})
        return self._finish(line)

    def resume(self, decision: Decision) -> list[Timed]:
        """Return the events from the decision on the waiting call on."""
        line = self._begin()
        self._player.settle(self._lead, decision, line)
        return self._finish(line)

    def _begin(self) -> Timeline:
        line = Timeline()
        line.add("run.start", **self._identity)
        return line

    def _finish(self, line: Timeline) -> list[Timed]:
        self._player.work(self._lead, line)
        line.add("run.done", **self._outcome())
        return line.events

    def _outcome(self) -> Event:
        if self._lead.failure:
            return {"finishReason": "error", "text": ""}
        if self._lead.paused_at:
            return {"finishReason": "awaiting-approval", "text": "", **self._spending.of_run(is_over=False)}
        fields = {"finishReason": self._reply.finish_reason, "text": self._lead.text}
        given = {"object": self._reply.object} if self._reply.says("object") else {}
        return {**fields, **self._spending.of_run(is_over=True), **given}


def refusal(name: str, message: str, code: str) -> list[Timed]:
    """Return the events of a run that fails before it starts: there is no `run.start`."""
    error = failure_fields(Failure(name=name, message=message, code=code))
    line = Timeline()
    line.add("error", error=error)
    line.add("run.done", finishReason="error", text="")
    return line.events
