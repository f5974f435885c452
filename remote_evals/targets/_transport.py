"""What connects to a deployment: aiohttp below httpx, whose own pool scans every connection at each change.

With 2,000 streams open that blocks the event loop for seconds; see tests/benchmarks.
"""

from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from .._version import __version__
from ._proxy import Proxy

USER_AGENT = f"remote-evals/{__version__}"

# An event is far smaller; the larger a read, the fewer times the loop is woken for a fast stream.
_READ_BYTES = 64 * 1024


def open_transport(url: str, proxy: Proxy | None) -> httpx.AsyncBaseTransport:
    """Return what connects to the deployment at `url`.

    Connections are not limited and never reused: every turn meets the deployment as a new caller does.
    """
    # Loading the certificates takes as long as a whole turn of a quick agent, so only where they are needed.
    tls = httpx.create_ssl_context() if urlsplit(url).scheme == "https" else False

    def open_session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, force_close=True, ssl=tls)
        return aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), read_bufsize=_READ_BYTES, auto_decompress=False
        )

    return AiohttpTransport(client=open_session, proxy=proxy.build() if proxy else None, verify=tls)
