"""DNS lookup, TCP connections and the TLS handshake with a deployment, as its HTTP clients do them."""

import asyncio
import ipaddress
import math
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..core.threads import run_in_thread
from ..transport.connecting import Tls

MAX_ADDRESSES = 8

_DAY_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The host and port that a URL names, and whether it uses TLS."""

    host: str
    port: int
    is_tls: bool

    @property
    def is_address(self) -> bool:
        """Whether the host is an IP address, so that there is no name to look up."""
        try:
            return bool(ipaddress.ip_address(self.host))
        except ValueError:
            return False


def parse_endpoint(url: str) -> Endpoint:
    """Return the endpoint of a base URL."""
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    return Endpoint(parts.hostname or "", parts.port or (443 if is_tls else 80), is_tls)


async def look_up_addresses(endpoint: Endpoint, limit_s: float) -> list[str]:
    """Return the addresses of a host, at most 8. Raises `OSError`, including its subclass `TimeoutError`."""
    async with asyncio.timeout(_to_asyncio_limit(limit_s)):
        # In its own thread: a DNS server that hangs must not keep the process from ending.
        found = await run_in_thread(socket.getaddrinfo, endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))[:MAX_ADDRESSES]


@dataclass(frozen=True, slots=True)
class ConnectAttempt:
    """An attempt to connect, which took `connect_ms`; `error` is None if it succeeded."""

    address: str
    connect_ms: float
    error: OSError | None = None


async def try_addresses(addresses: list[str], port: int, limit_s: float) -> list[ConnectAttempt]:
    """Connect to all addresses at the same time, and close each connection again."""
    return list(await asyncio.gather(*(_try_address(address, port, limit_s) for address in addresses)))


async def _try_address(address: str, port: int, limit_s: float) -> ConnectAttempt:
    started, error = time.perf_counter(), None
    try:
        async with asyncio.timeout(_to_asyncio_limit(limit_s)):
            _, writer = await asyncio.open_connection(address, port)
        writer.transport.abort()
    except OSError as raised:
        error = raised
    return ConnectAttempt(address, (time.perf_counter() - started) * 1000, error)


@dataclass(frozen=True, slots=True)
class Handshake:
    """What a TLS handshake agreed on; `days_left` is None if the certificate was not verified."""

    version: str
    offers_http2: bool
    issuer: str
    days_left: float | None


async def do_handshake(endpoint: Endpoint, address: str, tls: Tls, limit_s: float) -> Handshake:
    """Open a TLS connection, read its certificate, and close it. Raises `OSError`, including `ssl.SSLError`."""
    context = tls.open_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    async with asyncio.timeout(_to_asyncio_limit(limit_s)):
        _, writer = await asyncio.open_connection(
            address, endpoint.port, ssl=context, server_hostname=endpoint.host.rstrip(".")
        )
    try:
        return _read_handshake(writer.get_extra_info("ssl_object"))
    finally:
        writer.transport.abort()


def _read_handshake(connection: ssl.SSLObject) -> Handshake:
    certificate: Mapping[str, Any] = connection.getpeercert() or {}
    ends = certificate.get("notAfter")
    return Handshake(
        version=connection.version() or "TLS",
        offers_http2=connection.selected_alpn_protocol() == "h2",
        issuer=_render_issuer(certificate.get("issuer", ())),
        days_left=(ssl.cert_time_to_seconds(ends) - time.time()) / _DAY_S if ends else None,
    )


def _render_issuer(issuer: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    """Return the common name and organisation in a distinguished name."""
    parts = dict(part for parts in issuer for part in parts)
    named = [parts[key] for key in ("commonName", "organizationName") if key in parts]
    return ", ".join(dict.fromkeys(named)) or "an issuer without a name"


def _to_asyncio_limit(limit_s: float) -> float | None:
    return None if limit_s == math.inf else limit_s
