"""One session of a deployment: its turns, its decisions and its transcript."""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

from ..errors import RemoteError, UsageError
from ..redaction import Redactor
from ..results import RunResult
from ..urls import join_url
from ._causes import keep_cause
from ._clocks import Deadline, Limits
from ._exchange import Exchange
from ._link import Link
from ._retry import send_patiently
from ._tap import Tap
from ._token import TokenSource, ask_token
from ._transcript import read_messages

# Connecting is what takes most memory at a time: of thousands of sessions so many start, and the others wait.
_STARTING = 8


@dataclass(frozen=True, slots=True)
class Deployment:
    """What all sessions of a deployment share, while the target is open."""

    url: str
    link: Link
    token: TokenSource
    redactor: Redactor
    limits: Limits
    retries: int
    starting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_STARTING))


class RemoteSession:
    """One session of a deployment; see `RemoteTarget.open_session`."""

    def __init__(self, deployment: Deployment, limit_s: float | None, tap: Tap | None) -> None:
        # The protocol allows 1 to 128 characters of A-Z a-z 0-9 _ and -.
        self.id = f"eval-{secrets.token_hex(12)}"
        self._deployment = deployment
        self._tap = tap
        self._deadline = Deadline(asyncio.get_running_loop().time() + limit_s, limit_s) if limit_s else None
        self._latest: Exchange | None = None

    async def __aenter__(self) -> Self:
        """Return the session."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Do nothing: every turn closes its own connection."""

    @property
    def partial(self) -> RunResult | None:
        """What there is of the latest turn, scrubbed; None before the first."""
        return self._deployment.redactor.scrub_value(self._latest.result) if self._latest else None

    async def send(self, prompt: str, turn: int) -> RunResult:
        """Run one turn through `run.done` and return it, with the token scrubbed wherever the server echoed it.

        Raises `RemoteError`, whose `partial` is what had been rebuilt, and `TokenSourceError` before anything is sent.
        """
        at = self._deployment
        self._latest = Exchange(at.link, turn, at.limits, at.redactor.scrub, self._tap)
        return await self._run(self._latest, join_url(at.url, "/chat"), {"sessionId": self.id, "input": prompt})

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Decide what the latest turn waits for and return that turn, gone on to its next end. Raises as `send`."""
        if self._latest is None:
            raise UsageError("nothing was sent yet, so there is nothing to decide")
        url = join_url(self._deployment.url, f"/chat/{self.id}/approvals/{quote(approval_id, safe='')}")
        return await self._run(self._latest, url, decision)

    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the deployment keeps of this session. Raises as `send`."""
        at, redactor = self._deployment, self._deployment.redactor
        url = join_url(at.url, f"/chat/{self.id}")

        async def read() -> list[dict[str, Any]]:
            token = await ask_token(at.token, redactor)
            return await read_messages(at.link, url, token, at.limits, self._deadline, redactor.scrub)

        try:
            messages = await send_patiently(read, at.retries, self._left_s)
        except RemoteError as failure:
            _scrub(failure, redactor)
            raise
        return list(redactor.scrub_value(messages))

    async def _run(self, exchange: Exchange, url: str, body: Mapping[str, Any]) -> RunResult:
        at, redactor = self._deployment, self._deployment.redactor

        async def send() -> None:
            async with at.starting:
                await asyncio.sleep(0)
            token = await ask_token(at.token, redactor)
            await exchange.run(url, body, token, self._deadline)

        try:
            await send_patiently(send, at.retries, self._left_s, exchange.count_retry)
        except RemoteError as failure:
            failure.partial = redactor.scrub_value(exchange.result)
            _scrub(failure, redactor)
            raise
        result: RunResult = redactor.scrub_value(exchange.result)
        return result

    def _left_s(self) -> float:
        return self._deadline.at - asyncio.get_running_loop().time() if self._deadline else float("inf")


def _scrub(failure: RemoteError, redactor: Redactor) -> None:
    """Take secrets that the far side echoed out of an error, and out of the one that caused it."""
    failure.rewrite(redactor.scrub)
    failure.__cause__ = keep_cause(failure.__cause__, redactor.scrub)
