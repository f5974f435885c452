"""How requests get to a deployment: one transport for all sessions, each request with its headers and token."""

from collections.abc import Mapping

import httpx

from ..redaction import Secret
from ._transport import USER_AGENT


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
        self._timeout = httpx.Timeout(None, connect=connect_s).as_dict()

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
        request = httpx.Request(method, url, headers=sent, content=content, extensions={"timeout": self._timeout})
        response = await self._transport.handle_async_request(request)
        response.request = request
        return response

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()
