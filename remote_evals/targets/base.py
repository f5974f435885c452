"""What a target is: something that answers prompts, in one session per case."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from ..core.prompts import Prompt
from ..redaction import Redactor
from ..results import RunResult


class Session(Protocol):
    """One conversation with the agent. Its turns build on each other, and no other session sees them."""

    @property
    def id(self) -> str:
        """The id under which the agent keeps the conversation."""
        ...

    @property
    def partial(self) -> RunResult | None:
        """The current turn as far as it was seen; None before the first."""
        ...

    async def send(self, prompt: Prompt, turn: int) -> RunResult:
        """Run one turn to its end. A prompt is a text or a list of content parts; `turn` counts from 1.

        Raises `RemoteError`, whose `partial` is the run so far, if no run came back that can be judged.
        """
        ...

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Decide what the latest run waits for and return that run, continued to its next end.

        `decision` is `{"approved": bool, "note"?: text, "args"?: the arguments to approve}` or `{"answer": text}`. The
        run goes on once all that it waits for is decided. Raises as `send` does.
        """
        ...

    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the agent keeps of this session, each `{role, content}`. Raises as `send`."""
        ...


class Target(Protocol):
    """Where a suite's prompts go. It is an async context manager that is entered once for all cases."""

    @property
    def description(self) -> str:
        """The target as reports may show it: no userinfo, no query, no secret."""
        ...

    @property
    def keeps_time(self) -> bool:
        """Whether its sessions end by themselves when their time is over, and report what they waited for."""
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
        """Open a new session for one case, which may take `limit_s` seconds in all; None sets no limit."""
        ...
