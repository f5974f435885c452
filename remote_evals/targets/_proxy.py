"""The proxy that the environment sets for a deployment."""

import base64
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from ..errors import UsageError
from ..redaction import Redactor, Secret
from ..urls import is_loopback, show_url


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy. Its address may hold a password, so it is a secret as a whole."""

    address: Secret

    @property
    def speaks_tls(self) -> bool:
        """Whether the way to the proxy itself is TLS."""
        return urlsplit(self.address.reveal()).scheme == "https"

    def hide_from(self, redactor: Redactor) -> None:
        """Make the password known to the redactor, alone and as it is sent."""
        if password := urlsplit(self.address.reveal()).password:
            redactor.add(Secret(unquote(password)))
            redactor.add(self._credentials())

    def build(self) -> httpx.Proxy:
        """Return the proxy as the client takes it."""
        parts = urlsplit(self.address.reveal())
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        if parts.username is None:
            return httpx.Proxy(url)
        # aiohttp makes Proxy-Authorization of it; a user name in the URL would make it warn instead.
        return httpx.Proxy(url, headers={"Authorization": f"Basic {self._credentials().reveal()}"})

    def _credentials(self) -> Secret:
        parts = urlsplit(self.address.reveal())
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        return Secret(base64.b64encode(pair.encode()).decode())


def find_proxy(url: str) -> Proxy | None:
    """Return the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY set for a URL; loopback never has one.

    Raises `UsageError` for a proxy that is not an HTTP proxy.
    """
    address = _find_address(url)
    if address is None:
        return None
    if urlsplit(address.reveal()).scheme not in ("http", "https"):
        shown = show_url(address.reveal())
        raise UsageError(f"the proxy {shown} that the environment sets is not an http:// or https:// URL")
    return Proxy(address)


def _find_address(url: str) -> Secret | None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    address = getproxies().get(parts.scheme) or getproxies().get("all")
    if not address or is_loopback(url) or proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    return Secret(address if "://" in address else f"http://{address}")
