"""How requests reach a deployment, and when one is sent again.

aiohttp connects below httpx: httpx's own pool scans every connection at each change, which blocks the event loop for
seconds with 2,000 streams open (see tests/benchmarks).
"""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential, wait_random

from .._version import __version__
from ..errors import RemoteError, RemoteStatusError, RemoteUnreachableError
from ..redaction import Secret
from .connecting import Proxy, Tls
from .failures import ConnectExpiredError, iterate_causes
from .limits import SizeLimits

_T = TypeVar("_T")

USER_AGENT = f"remote-evals/{__version__}"

# An event is far smaller; the larger a read, the fewer times the loop is woken for a fast stream.
_READ_BYTES = 64 * 1024
_PIECE_BYTES = 64 * 1024

# Statuses of a deployment that cannot take a request now and rejected it before any stream began.
_TURNED_AWAY = (429, 503)

pause = wait_exponential(multiplier=0.5, max=8) + wait_random(0, 0.5)


class HttpClient:
    """Sends requests over one transport, each with the headers that all have in common.

    Not an `httpx.AsyncClient`, which would carry cookies from one session to the next, and whose generators and merged
    headers take much time and memory with thousands of open streams.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport, headers: Mapping[str, str], connect_s: float) -> None:
        self._transport = transport
        own = httpx.Headers({"User-Agent": USER_AGENT})
        own.update(headers)
        self._own = [(name.lower(), value) for name, value in own.raw]
        self._connect_s = connect_s
        limit_s = None if connect_s == float("inf") else connect_s
        # The transport takes the limit of the pool as that of connecting as a whole: DNS, TCP and TLS.
        self._timeout = httpx.Timeout(None, connect=limit_s, pool=limit_s).as_dict()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], token: Secret | None, content: bytes | None = None
    ) -> httpx.Response:
        """Send a request and return the answer once its headers are there; close it after use.

        `headers` override the common ones, and those the User-Agent. Raises what the transport raises.
        """
        given = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        if token:
            given.append((b"authorization", f"Bearer {token.reveal()}".encode()))  # RFC 6750, section 2.1
        names = {name for name, _ in given}
        sent = [*(pair for pair in self._own if pair[0] not in names), *given]
        extensions = {"timeout": self._timeout}
        if content and len(content) > _PIECE_BYTES:
            sent.append((b"content-length", str(len(content)).encode()))
            request = httpx.Request(method, url, headers=sent, stream=_Pieces(content), extensions=extensions)
        else:
            request = httpx.Request(method, url, headers=sent, content=content, extensions=extensions)
        try:
            response = await self._transport.handle_async_request(request)
        except httpx.ConnectTimeout as error:
            if isinstance(error.__cause__, aiohttp.ConnectionTimeoutError):
                raise ConnectExpiredError(self._connect_s) from error
            raise
        response.request = request
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()


class _Pieces(httpx.AsyncByteStream):
    """A large body in pieces: aiohttp warns of one that is given as a whole, since writing it would block the loop."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), _PIECE_BYTES):
            yield self._content[start : start + _PIECE_BYTES]


@dataclass(frozen=True, slots=True)
class Trace:
    """A W3C trace that requests join, so that an operator finds a run in the deployment's own traces.

    Its id is 32 lower-case hex digits.
    """

    trace_id: str

    def new_traceparent(self) -> str:
        """Return the header of one more request, version 00, sampled.

        Source: https://www.w3.org/TR/trace-context/#traceparent-header.
        """
        return f"00-{self.trace_id}-{secrets.token_hex(8)}-01"


def new_trace() -> Trace:
    """Return a fresh random trace."""
    return Trace(secrets.token_hex(16))


async def send_patiently(
    send: Callable[[], Awaitable[_T]],
    retries: int,
    left_s: Callable[[], float],
    count_retry: Callable[[], None] = lambda: None,
) -> _T:
    """Return what `send` returns; call it up to `retries` times more if the deployment cannot have begun to act on it.

    A turn may refund money, so no other request is sent again. `count_retry` is called before each retry. The pause is
    what Retry-After asks for, or else grows, and never uses up the `left_s` seconds that are left. Raises what the last
    attempt raised, which then says how many attempts there were.
    """

    def is_last(state: RetryCallState) -> bool:
        return state.attempt_number > retries or state.upcoming_sleep >= left_s()

    retrying = AsyncRetrying(
        retry=retry_if_exception(cannot_have_begun),
        stop=is_last,
        wait=_wait,
        before_sleep=lambda _: count_retry(),
        reraise=True,
    )
    try:
        answer: _T = await retrying(send)
    except RemoteError as failure:
        if (attempts := retrying.statistics["attempt_number"]) > 1:
            failure.count_attempts(attempts)
        raise
    return answer


def cannot_have_begun(error: BaseException) -> bool:
    """Return whether a failed request cannot have had an effect: it never arrived, or was turned away."""
    if isinstance(error, RemoteStatusError):
        return error.status in _TURNED_AWAY and not error.may_have_begun
    return isinstance(error, RemoteUnreachableError) and not any(map(_is_permanent, iterate_causes(error)))


def _is_permanent(cause: BaseException) -> bool:
    """Return whether every further attempt would fail alike: a proxy that refuses, or an invalid URL."""
    refused = isinstance(cause, aiohttp.ClientHttpProxyError) and 400 <= cause.status < 500
    return refused or isinstance(cause, aiohttp.InvalidURL | httpx.InvalidURL | httpx.UnsupportedProtocol)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked_s = getattr(error, "retry_after_s", None)
    return pause(state) if asked_s is None else asked_s


def open_transport(
    url: str, proxy: Proxy | None, tls: Tls | None = None, header_bytes: int = SizeLimits().header_bytes
) -> httpx.AsyncBaseTransport:
    """Return a transport to the deployment at `url`, over TLS that is verified unless `tls` says otherwise.

    Connections are not limited in number and never reused: every turn meets the deployment as a new caller does. A
    response header may have `header_bytes`, and there may be 128 of them.
    """
    # Loading the certificates takes as long as a whole turn of a quick agent, so only where they are needed.
    is_needed = url.startswith("https:") or (proxy is not None and proxy.speaks_tls)
    context: ssl.SSLContext | bool = (tls or Tls()).open_context() if is_needed else False

    def open_session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, force_close=True, ssl=context)
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=_READ_BYTES,
            auto_decompress=False,
            max_line_size=header_bytes,
            max_field_size=header_bytes,
            response_class=Answer,
        )
        # Without this it would repeat a GET on its own when the connection breaks, uncounted.
        session._retry_connection = False
        return session

    return AiohttpTransport(client=open_session, proxy=proxy.build() if proxy else None, verify=context)


class Answer(aiohttp.ClientResponse):
    """An aiohttp response that ends when its connection does, with a reason phrase in ASCII."""

    async def start(self, connection: aiohttp.connector.Connection) -> "Answer":
        """Read the headers."""
        await super().start(connection)
        self.reason = (self.reason or "").encode("ascii", "replace").decode()
        # It is a queue, and so false while it is empty.
        closed = None if connection.protocol is None else connection.protocol.closed
        if closed:
            closed.add_done_callback(self._on_closed)
        else:
            self._end()
        return self

    def _on_closed(self, closed: "asyncio.Future[None]") -> None:
        # Retrieved, or else asyncio logs that nobody did.
        if not closed.cancelled():
            closed.exception()
        self._end()

    def _end(self) -> None:
        """End the body: aiohttp closes the connection at bytes that are not HTTP, and tells no reader."""
        if not self.content.is_eof() and self.content.exception() is None:
            self.content.feed_eof()
