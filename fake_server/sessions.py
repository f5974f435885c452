"""The conversations the server has had, and which of them wait for an approval."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fake_server._decision import Decision
from fake_server._timeline import Timed
from fake_server.faults import Fault
from fake_server.turn import Turn

_VALID_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass
class Session:
    """One conversation: a turn joins `messages` once it ended well."""

    id: str
    messages: list[Any] = field(default_factory=list)
    turns: int = 0
    paused: "Pause | None" = None
    running: asyncio.Task[None] | None = None
    entrance: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def idle(self) -> None:
        """Return once no turn of the session runs."""
        if self.running:
            await asyncio.wait([self.running])

    def transcript(self) -> dict[str, Any]:
        """Return what `GET /chat/<id>` answers."""
        pending = {"status": "awaiting-approval", "approvalId": self.paused.approval_id} if self.paused else None
        return {"sessionId": self.id, "messages": self.messages, "pending": pending}


@dataclass(frozen=True)
class Exchange:
    """A turn of a session, the input that began it, and the faults on its way to the client."""

    session: Session
    message: Any
    turn: Turn
    faults: list[Fault]

    def first_run(self) -> "Run":
        """Return the run that begins the turn."""
        return Run("chat", self.faults, self._start, self._record)

    def next_run(self, decision: Decision) -> "Run":
        """Return the run that goes on after a pause."""
        return Run("approval", self.faults, lambda: self._resume(decision), self._record)

    def _start(self) -> list[Timed]:
        self.session.turns += 1
        return self.turn.start()

    def _resume(self, decision: Decision) -> list[Timed]:
        self.session.paused = None
        return self.turn.resume(decision)

    def _record(self) -> None:
        if self.turn.approval_id:
            self.session.paused = Pause(self.turn.approval_id, self)
        elif self.turn.text is not None:
            said = {"role": "assistant", "content": self.turn.text}
            self.session.messages += [{"role": "user", "content": self.message}, said]


@dataclass(frozen=True)
class Run:
    """What answers one request with a stream, unless a fault keeps it from it."""

    request: Literal["chat", "approval"]
    faults: Sequence[Fault]
    begin: Callable[[], list[Timed]]
    record: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Pause:
    """An approval that nobody has decided yet, and the exchange it holds up."""

    approval_id: str
    exchange: Exchange


class Sessions:
    """All sessions, by id."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def open(self, session_id: str) -> Session:
        """Return the session, a new one when the id is new."""
        return self._sessions.setdefault(session_id, Session(session_id))

    @staticmethod
    def is_valid(session_id: str) -> bool:
        """Tell whether `session_id` may name a session."""
        return _VALID_ID.fullmatch(session_id) is not None
