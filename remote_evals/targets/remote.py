"""A deployment over HTTP, as a target: one session per case, one POST per turn, the stream read through `run.done`."""

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx

from ..errors import RemoteError, UsageError
from ..headers import check_headers, find_credentials
from ..redaction import Redactor, Secret
from ..results import RunResult
from ..urls import find_url_credentials, join_url, parse_base_url, show_url
from ._clocks import Deadline, Limits
from ._exchange import Exchange
from ._link import Link
from ._proxy import find_proxy
from ._token import Token, TokenSource, ask_token, check_token
from ._transcript import read_messages
from ._transport import open_transport


class RemoteTarget:
    """A deployment that speaks the `/chat` protocol at `url`, which may carry a path.

    `token` is a string, or a sync or async callable that is asked before every turn; it is sent as a bearer token.
    `headers` are sent with every request; `transport` replaces the connection, by one to an ASGI app say. Raises
    `UsageError` for a token that no header can carry, and `ValueError` for a URL that is not http(s) or holds userinfo,
    and for a header that cannot be sent.
    """

    keeps_time = True

    def __init__(
        self,
        url: str,
        token: Token = None,
        *,
        headers: Mapping[str, str] | None = None,
        redactor: Redactor | None = None,
        limits: Limits | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        # First of all, so that no traceback finds the text in this frame.
        token = Secret(token) if isinstance(token, str) else token
        self._token = check_token(token) if isinstance(token, Secret) else token
        self.url = parse_base_url(url)
        self.redactor = redactor or Redactor()
        self.limits = limits or Limits()
        self._headers = check_headers(headers or {})
        self._transport = transport
        self._link: Link | None = None
        self._entered = 0
        for secret in (*find_credentials(self._headers), *find_url_credentials(self.url)):
            self.redactor.add(Secret(secret))

    @property
    def description(self) -> str:
        """The base URL without its query."""
        return show_url(self.url)

    async def __aenter__(self) -> Self:
        """Open the way to the deployment. Raises `UsageError` for a proxy in the environment that cannot be used."""
        if self._link is None:
            # Connecting is what takes most memory at a time: of thousands of sessions a few start, and the others wait.
            self.starting = asyncio.Semaphore(8)
            self._link = Link(self._transport or self._open_transport(), self._headers, self.limits.connect_s)
        self._entered += 1
        return self

    def _open_transport(self) -> httpx.AsyncBaseTransport:
        proxy = find_proxy(self.url)
        if proxy:
            proxy.hide_from(self.redactor)
        return open_transport(self.url, proxy)

    async def __aexit__(self, *raised: object) -> None:
        """Close every connection, once all who entered have left."""
        self._entered -= 1
        if self._entered == 0 and self._link:
            link, self._link = self._link, None
            await link.aclose()

    def open_session(self, limit_s: float | None = None) -> "RemoteSession":
        """Open a fresh session, to be done within `limit_s` seconds; nothing is sent before its first turn.

        Raises `UsageError` when the target was not entered.
        """
        if self._link is None:
            raise UsageError(f"the target {self.description} is not open; use it in `async with`, or by an EvalRunner")
        return RemoteSession(self, self._link, self._token, limit_s)


class RemoteSession:
    """One session of a deployment; see `RemoteTarget.open_session`."""

    def __init__(self, target: RemoteTarget, link: Link, token: TokenSource, limit_s: float | None) -> None:
        # The protocol allows 1 to 128 characters of A-Z a-z 0-9 _ and -.
        self.id = f"eval-{secrets.token_hex(12)}"
        self._target = target
        self._link = link
        self._token = token
        self._url = join_url(target.url, "/chat")
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
        return self._target.redactor.scrub_value(self._latest.result) if self._latest else None

    async def send(self, prompt: str, turn: int) -> RunResult:
        """Run one turn through `run.done` and return it, with the token scrubbed wherever the server echoed it.

        Raises `RemoteError`, whose `partial` is what had been rebuilt, and `TokenSourceError` before anything is sent.
        """
        self._latest = Exchange(self._link, turn, self._target.limits, self._target.redactor.scrub)
        return await self._run(self._latest, self._url, {"sessionId": self.id, "input": prompt})

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Decide what the latest turn waits for and return that turn, gone on to its next end. Raises as `send`."""
        if self._latest is None:
            raise UsageError("nothing was sent yet, so there is nothing to decide")
        url = join_url(self._target.url, f"/chat/{self.id}/approvals/{quote(approval_id, safe='')}")
        return await self._run(self._latest, url, decision)

    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages that the deployment keeps of this session. Raises as `send`."""
        redactor = self._target.redactor
        token = await ask_token(self._token, redactor)
        url = join_url(self._target.url, f"/chat/{self.id}")
        messages = await read_messages(self._link, url, token, self._target.limits, self._deadline, redactor.scrub)
        return list(redactor.scrub_value(messages))

    async def _run(self, exchange: Exchange, url: str, body: Mapping[str, Any]) -> RunResult:
        redactor = self._target.redactor
        async with self._target.starting:
            await asyncio.sleep(0)
        token = await ask_token(self._token, redactor)
        try:
            await exchange.run(url, body, token, self._deadline)
        except RemoteError as failure:
            failure.partial = redactor.scrub_value(exchange.result)
            _scrub(failure, redactor)
            raise
        result: RunResult = redactor.scrub_value(exchange.result)
        return result


def _scrub(failure: RemoteError, redactor: Redactor) -> None:
    """Take secrets that the far side echoed out of an error, and out of the one that caused it."""
    failure.rewrite(redactor.scrub)
    cause = repr(failure.__cause__) + str(failure.__cause__)
    if redactor.scrub(cause) != cause:
        failure.__cause__ = None
