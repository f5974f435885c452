"""Events in time: what an agent emits when, alone or in parallel with others."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fake_server._wire import Event


@dataclass(frozen=True)
class Timed:
    """An event and its moment, in seconds after the run began."""

    at_s: float
    event: Event


@dataclass
class Timeline:
    """The events of one agent in their order; a `tag` says whose they are when it is a sub-agent."""

    now_s: float = 0.0
    tag: Event | None = None
    events: list[Timed] = field(default_factory=list)

    def add(self, event_type: str, /, **fields: object) -> None:
        """Emit an event now."""
        whose = {} if self.tag is None else {"subagent": self.tag}
        self.events.append(Timed(self.now_s, {"type": event_type, **fields, **whose}))

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds

    def branch(self, tag: Event | None = None) -> "Timeline":
        """Return a timeline that starts now, of the sub-agent `tag` or else of the same agent."""
        return Timeline(self.now_s, tag or self.tag)

    def join(self, branches: Sequence["Timeline"]) -> None:
        """Take in what the `branches` did in parallel; events of one moment take turns, in branch order."""
        numbered = [(timed.at_s, number, timed) for one in branches for number, timed in enumerate(one.events)]
        self.events.extend(timed for *_, timed in sorted(numbered, key=lambda entry: entry[:2]))
        self.now_s = max((one.now_s for one in branches), default=self.now_s)
