"""The HTTP client: aiohttp below httpx, since httpx's own pool scans every connection at every change of one.

With 500 streams open that blocks the event loop for seconds; see tests/benchmarks.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from .._version import __version__
from ..errors import UsageError
from ..urls import show_url

USER_AGENT = f"remote-evals/{__version__}"

# An event is far smaller; the larger a read, the fewer times the loop is woken for a fast stream.
_READ_BYTES = 64 * 1024


def open_client(url: str, headers: Mapping[str, str], connect_s: float) -> httpx.AsyncClient:
    """Return a client for one deployment; close it after use.

    Connections are not limited and never reused: every turn meets the deployment as a new caller does. The proxy
    that the environment sets for `url` is used. Raises `UsageError` for a proxy that is not an HTTP proxy.
    """
    # Loading the certificates takes as long as a whole turn of a quick agent, so only where they are needed.
    tls = httpx.create_ssl_context() if urlsplit(url).scheme == "https" else False

    def open_session() -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=0, force_close=True, ssl=tls)
        return aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), read_bufsize=_READ_BYTES, auto_decompress=False
        )

    proxy = find_proxy(url)
    return httpx.AsyncClient(
        transport=AiohttpTransport(client=open_session, proxy=httpx.Proxy(proxy) if proxy else None, verify=tls),
        headers={"User-Agent": USER_AGENT, **headers},
        timeout=httpx.Timeout(None, connect=connect_s),
        follow_redirects=False,
        trust_env=False,
    )


def find_proxy(url: str) -> str | None:
    """Return the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY set for a URL; loopback never has one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or _is_loopback(host) or proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    if "://" not in proxy:
        return f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise UsageError(f"the proxy {show_url(proxy)} that the environment sets is not an http:// or https:// URL")
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
