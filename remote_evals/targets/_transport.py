"""What connects to a deployment: aiohttp below httpx, whose own pool scans every connection at each change.

With 2,000 streams open that blocks the event loop for seconds; see tests/benchmarks.
"""

import asyncio
import ssl

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from .._version import __version__
from ._proxy import Proxy
from ._tls import Tls

USER_AGENT = f"remote-evals/{__version__}"

# An event is far smaller; the larger a read, the fewer times the loop is woken for a fast stream.
_READ_BYTES = 64 * 1024

# Of one response header; there may be 128 of them.
MAX_HEADER_BYTES = 64 * 1024


class Answer(aiohttp.ClientResponse):
    """An answer that ends where its connection does, and whose reason phrase can be written anywhere."""

    async def start(self, connection: aiohttp.connector.Connection) -> "Answer":
        """Read the headers."""
        await super().start(connection)
        self.reason = (self.reason or "").encode("ascii", "replace").decode()
        # It is a queue, and so false while it is empty.
        closed = None if connection.protocol is None else connection.protocol.closed
        if closed:
            closed.add_done_callback(self._note_closed)
        else:
            self._end()
        return self

    def _note_closed(self, closed: "asyncio.Future[None]") -> None:
        # Asked for, or else asyncio tells that nobody did.
        if not closed.cancelled():
            closed.exception()
        self._end()

    def _end(self) -> None:
        """Let whoever reads the body know: aiohttp closes the connection at what is not HTTP, and tells nobody."""
        if not self.content.is_eof() and self.content.exception() is None:
            self.content.feed_eof()


def open_transport(url: str, proxy: Proxy | None, tls: Tls | None = None) -> httpx.AsyncBaseTransport:
    """Return what connects to the deployment at `url`, over TLS that is verified unless `tls` says otherwise.

    Connections are not limited and never reused: every turn meets the deployment as a new caller does.
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
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            response_class=Answer,
        )
        # It would send a GET once more on its own where the connection breaks, and count it nowhere.
        session._retry_connection = False
        return session

    return AiohttpTransport(client=open_session, proxy=proxy.build() if proxy else None, verify=context)
