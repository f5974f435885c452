"""What a target is: something that answers prompts, one session per case."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from ..redaction import Redactor
from ..results import RunResult


class Session(Protocol):
    """One conversation with the agent; its turns see each other, and no other session sees them."""

    @property
    def id(self) -> str:
        """The id under which the agent keeps the conversation."""
        ...

    @property
    def partial(self) -> RunResult | None:
        """What there is of the turn under way, as far as it was seen; None before the first."""
        ...

    async def send(self, prompt: str, turn: int) -> RunResult:
        """Run one turn to its end. `turn` counts from 1.

        Raises `RemoteError`, with what had been rebuilt as `partial`, when no run came back that can be judged.
        """
        ...

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Decide what the latest run waits for and return that run, gone on to its next end.

        `decision` is `{"approved": bool, "note"?: text}` or `{"answer": text}`. Raises as `send` does.
        """
        ...

    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the agent keeps of this session, each `{role, content}`. Raises as `send`."""
        ...


class Target(Protocol):
    """Where a suite's prompts go. Entered once for all cases, as an async context manager."""

    @property
    def description(self) -> str:
        """The target as reports may show it: no userinfo, no query, no secret."""
        ...

    @property
    def keeps_time(self) -> bool:
        """Whether its sessions end by themselves when their time is over, and say what they waited for."""
        ...

    @property
    def redactor(self) -> Redactor:
        """Knows every secret that this target uses."""
        ...

    async def __aenter__(self) -> "Target":
        """Acquire what all sessions share."""
        ...

    async def __aexit__(self, *raised: object) -> None:
        """Release it."""
        ...

    def open_session(self, limit_s: float | None = None) -> AbstractAsyncContextManager[Session]:
        """Open a fresh session for one case, which may take `limit_s` seconds in all; None sets no limit."""
        ...
