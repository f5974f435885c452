"""The HTTP client: aiohttp below httpx, since httpx's own pool scans every connection at every change of one.

With 2,000 streams open that blocks the event loop for seconds; see tests/benchmarks.
"""

from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from .._version import __version__
from ._proxy import Proxy

USER_AGENT = f"remote-evals/{__version__}"

# An event is far smaller; the larger a read, the fewer times the loop is woken for a fast stream.
_READ_BYTES = 64 * 1024


def open_client(transport: httpx.AsyncBaseTransport, headers: Mapping[str, str], connect_s: float) -> httpx.AsyncClient:
    """Return a client; close it after use. `headers` come before its own, whatever the case of their names."""
    # A cookie of one session must not be sent in another, so none is kept.
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    sent = httpx.Headers({"User-Agent": USER_AGENT})
    sent.update(headers)
    return httpx.AsyncClient(
        transport=transport,
        headers=sent,
        cookies=no_cookies,
        timeout=httpx.Timeout(None, connect=connect_s),
        follow_redirects=False,
        trust_env=False,
    )


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
