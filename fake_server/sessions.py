"""The conversations that the server has had, and which of them wait for an approval."""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fake_server.agents import Decision, Request
from fake_server.events import TimedEvent
from fake_server.faults import Fault
from fake_server.turn import Turn

_VALID_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Sessions:
    """All sessions, by id."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def open(self, session_id: str) -> "Session":
        """Return the session of this id, a new one if the id is new."""
        return self._sessions.setdefault(session_id, Session(session_id))

    @staticmethod
    def is_valid(session_id: str) -> bool:
        """Return whether `session_id` may name a session."""
        return _VALID_ID.fullmatch(session_id) is not None


@dataclass
class Session:
    """One conversation; `messages` holds the turns that ended well, and `lock` is held while a request starts one."""

    id: str
    messages: list[Any] = field(default_factory=list)
    turns: int = 0
    paused: "Exchange | None" = None
    running: asyncio.Task[None] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def wait_until_idle(self) -> None:
        """Return once no turn of the session runs."""
        if self.running:
            await asyncio.wait([self.running])

    def abort(self) -> None:
        """End the turn that runs; what it has done stays done, and it joins no transcript."""
        if self.running:
            self.running.cancel()

    def make_transcript(self) -> dict[str, Any]:
        """Return the answer to `GET /chat/<id>`."""
        pending = self.paused.make_fields() if self.paused else None
        return {"sessionId": self.id, "messages": self.messages, "pending": pending}


@dataclass(frozen=True)
class Exchange:
    """A turn of a session, the message that began it, and the faults of its reply."""

    session: Session
    message: Any
    turn: Turn
    faults: list[Fault]

    def start(self) -> "Run":
        """Return the run that begins the turn."""
        return Run("chat", self.faults, self._start, self._record)

    def resume(self, request: Request, decision: Decision) -> "Run":
        """Return the run that continues the turn after a pause, once the last request is decided."""
        return Run("approval", self.faults, lambda: self._resume(request, decision), self._record)

    def make_fields(self) -> dict[str, Any]:
        """Return what the turn waits for, as the transcript has it."""
        ids = [request.id for request in self.turn.requests]
        pending = {"status": "awaiting-approval", "approvalId": ids[0]}
        return pending | ({"approvalIds": ids} if self.turn.pauses_together else {})

    def _start(self) -> list[TimedEvent]:
        self.session.turns += 1
        return self.turn.start()

    def _resume(self, request: Request, decision: Decision) -> list[TimedEvent]:
        self.session.paused = None
        return self.turn.resume(request, decision)

    def _record(self) -> None:
        if self.turn.requests:
            self.session.paused = self
        elif self.turn.text is not None:
            reply = {"role": "assistant", "content": self.turn.text}
            self.session.messages += [{"role": "user", "content": self.message}, reply]


@dataclass(frozen=True)
class Run:
    """The stream that answers one request, unless a fault answers instead; `begin` returns its events."""

    request: Literal["chat", "approval"]
    faults: Sequence[Fault]
    begin: Callable[[], list[TimedEvent]]
    record: Callable[[], None] = lambda: None
