"""A deployment over HTTP as a target: one session per case, one request per turn, each stream read to its end."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Self

import httpx

from ..core.urls import show_url
from ..errors import UsageError
from ..protocols.base import Protocol
from ..protocols.chat import CHAT
from ..redaction import Redactor, Secret
from ..transport.auth import Credentials, Token, check_credentials
from ..transport.client import HttpClient, open_transport
from ..transport.connecting import check_tls, find_proxy
from ..transport.limits import Limits, SizeLimits
from .session import Deployment, RemoteSession
from .stream_reader import StreamObserver


class RemoteTarget:
    """A deployment that speaks `protocol`, by default the `/chat` protocol, at `url`, which may have a path.

    `token` is a string, or a sync or async callable that is called before every turn; it is sent as a bearer token.
    `headers` are sent with every request; like the token, the values of those named by `secret_headers` are never
    shown. TLS trusts the usual authorities and those in the file `ca_bundle`; `insecure` accepts any certificate, and
    `insecure_http` allows secrets over plain http to other machines. `limits` bound every wait and `sizes` every
    answer. A request that the deployment cannot have begun to act on is sent again up to `retries` times. `transport`
    replaces the connection, for example by one to an ASGI app.

    Raises `UsageError` for a token that no header can carry or that a header Authorization contradicts, for secrets
    over plain http, and for a `ca_bundle` without a certificate; `ValueError` for a URL that is not http(s) or holds
    userinfo, for a header that cannot be sent or kept secret, and for negative `retries`.
    """

    keeps_time = True

    def __init__(
        self,
        url: str,
        token: Token = None,
        *,
        headers: Mapping[str, str] | None = None,
        secret_headers: Collection[str] = (),
        ca_bundle: Path | str | None = None,
        insecure: bool = False,
        insecure_http: bool = False,
        limits: Limits | None = None,
        sizes: SizeLimits | None = None,
        retries: int = 2,
        redactor: Redactor | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        protocol: Protocol = CHAT,
    ) -> None:
        # First of all, so that no traceback finds the text in this frame.
        token = Secret(token) if isinstance(token, str) else token
        sent = check_credentials(url, token, headers or {}, secret_headers, insecure_http=insecure_http)
        # From here on no traceback finds a header's value or the URL's query in this frame either.
        del url, headers
        if not isinstance(sent, Credentials):
            raise sent
        if retries < 0:
            raise ValueError(f"retries is {retries}; it must be 0 or more")
        self.url = sent.url
        self.redactor = redactor or Redactor()
        self.limits = limits or Limits()
        self.sizes = sizes or SizeLimits()
        self.protocol = protocol
        self.retries = retries
        self._sent = sent
        self.tls = check_tls(ca_bundle, insecure=insecure)
        self._transport = transport
        self._deployment: Deployment | None = None
        self._entered = 0
        sent.hide_from(self.redactor)

    @property
    def description(self) -> str:
        """The base URL without its query."""
        return show_url(self.url)

    @property
    def client(self) -> HttpClient:
        """Sends requests to the deployment. Raises `UsageError` if the target was not entered."""
        return self._opened.client

    async def __aenter__(self) -> Self:
        """Open the transport. Raises `UsageError` for a proxy in the environment that cannot be used."""
        if self._deployment is None:
            client = HttpClient(self._transport or self._open_transport(), self._sent.headers, self.limits.connect_s)
            self._deployment = Deployment(
                self.url,
                client,
                self.protocol,
                self._sent.token,
                self.redactor,
                self.limits,
                self.sizes,
                self.retries,
            )
        self._entered += 1
        return self

    def _open_transport(self) -> httpx.AsyncBaseTransport:
        proxy = find_proxy(self.url)
        if proxy:
            proxy.hide_from(self.redactor)
        return open_transport(self.url, proxy, self.tls, self.sizes.header_bytes)

    async def __aexit__(self, *raised: object) -> None:
        """Close every connection once the target has been left as often as it was entered."""
        self._entered -= 1
        if self._entered == 0 and self._deployment:
            client, self._deployment = self._deployment.client, None
            await client.aclose()

    def open_session(self, limit_s: float | None = None, observer: StreamObserver | None = None) -> RemoteSession:
        """Open a new session that must be done within `limit_s` seconds; nothing is sent before its first turn.

        `observer` is shown the answer of every turn as it comes. Raises `UsageError` if the target was not entered.
        """
        return RemoteSession(self._opened, limit_s, observer)

    @property
    def _opened(self) -> Deployment:
        if self._deployment is None:
            raise UsageError(f"the target {self.description} is not open; use it in `async with`, or by an EvalRunner")
        return self._deployment
