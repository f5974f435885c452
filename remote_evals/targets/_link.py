"""How requests get to a deployment: one transport for all sessions, each request with its headers and token."""

from collections.abc import AsyncIterator, Mapping

import aiohttp
import httpx

from ..redaction import Secret
from ._failures import ConnectExpiredError
from ._transport import USER_AGENT

_PIECE_BYTES = 64 * 1024


class Link:
    """A transport with what every request over it has.

    Not an `httpx.AsyncClient`: it would keep cookies from one session for the next, and for thousands of open streams
    its generators and merged headers take a good part of their time and memory.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport, headers: Mapping[str, str], connect_s: float) -> None:
        self._transport = transport
        own = httpx.Headers({"User-Agent": USER_AGENT})
        own.update(headers)
        self._own = [(name.lower(), value) for name, value in own.raw]
        self._connect_s = connect_s
        limit_s = None if connect_s == float("inf") else connect_s
        # To the transport, the pool's limit is that of all connecting: looking up the name, TCP and TLS.
        self._timeout = httpx.Timeout(None, connect=limit_s, pool=limit_s).as_dict()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], token: Secret | None, content: bytes | None = None
    ) -> httpx.Response:
        """Send a request and return the answer once its headers are there; close it after use.

        `headers` come before those of the link, and those before the user agent's. Raises what the transport raises.
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
    """A large body, a piece at a time: aiohttp warns of one that it is given whole, since it would hold up the loop."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), _PIECE_BYTES):
            yield self._content[start : start + _PIECE_BYTES]
