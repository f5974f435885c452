"""A deployment over HTTP, as a target: one session per case, one POST per turn, the stream read through `run.done`."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Self

import httpx

from ..errors import RemoteError
from ..redaction import Redactor, Secret, is_credential_name
from ..results import RunResult
from ..urls import join_url, parse_base_url, show_url
from ._clocks import Deadline, Limits
from ._exchange import Exchange
from ._proxy import find_proxy
from ._token import Token, TokenSource, ask_token, check_token
from ._transport import open_client


class RemoteTarget:
    """A deployment that speaks the `/chat` protocol at `url`, which may carry a path.

    `token` is a string, or a sync or async callable that is asked before every turn; it is sent as a bearer token.
    `headers` are sent with every request. Raises `UsageError` for a token that no header can carry, and `ValueError`
    for a URL that is not http(s) or holds userinfo.
    """

    def __init__(
        self,
        url: str,
        token: Token = None,
        *,
        headers: Mapping[str, str] | None = None,
        redactor: Redactor | None = None,
        limits: Limits | None = None,
    ) -> None:
        # First of all, so that no traceback finds the text in this frame.
        token = Secret(token) if isinstance(token, str) else token
        self._token = check_token(token) if isinstance(token, Secret) else token
        self.url = parse_base_url(url)
        self.redactor = redactor or Redactor()
        self.limits = limits or Limits()
        self._headers = dict(headers or {})
        for name, value in self._headers.items():
            if is_credential_name(name):
                self.redactor.add(Secret(value))

    @property
    def description(self) -> str:
        """The base URL without its query."""
        return show_url(self.url)

    async def __aenter__(self) -> Self:
        """Open the HTTP client. Raises `UsageError` for a proxy in the environment that cannot be used."""
        proxy = find_proxy(self.url)
        if proxy:
            proxy.hide_from(self.redactor)
        self._client = open_client(self.url, self._headers, self.limits.connect_s, proxy)
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Close the client and every connection."""
        await self._client.aclose()

    @asynccontextmanager
    async def open_session(self, limit_s: float | None = None) -> AsyncIterator["RemoteSession"]:
        """Open a fresh session, to be done within `limit_s` seconds; nothing is sent before its first turn."""
        yield RemoteSession(self, self._client, self._token, limit_s)


class RemoteSession:
    """One session of a deployment; see `RemoteTarget.open_session`."""

    def __init__(
        self, target: RemoteTarget, client: httpx.AsyncClient, token: TokenSource, limit_s: float | None
    ) -> None:
        # The protocol allows 1 to 128 characters of A-Z a-z 0-9 _ and -.
        self.id = f"eval-{secrets.token_hex(12)}"
        self._target = target
        self._client = client
        self._token = token
        self._url = join_url(target.url, "/chat")
        self._deadline = Deadline(asyncio.get_running_loop().time() + limit_s, limit_s) if limit_s else None

    async def send(self, prompt: str, turn: int) -> RunResult:
        """Run one turn through `run.done` and return it, with the token scrubbed wherever the server echoed it.

        Raises `RemoteError`, whose `partial` is what had been rebuilt, and `TokenSourceError` before anything is sent.
        """
        redactor = self._target.redactor
        token = await ask_token(self._token, redactor)
        exchange = Exchange(self._client, self._url, turn, self._target.limits)
        try:
            await exchange.run({"sessionId": self.id, "input": prompt}, token, self._deadline)
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
