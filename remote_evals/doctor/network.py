"""The way to a deployment below HTTP: its name, and a connection to each of its addresses."""

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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a deployment is by its URL."""

    host: str
    port: int
    is_tls: bool

    @property
    def is_address(self) -> bool:
        """Whether the host is an address already, so that there is no name to look up."""
        try:
            return bool(ipaddress.ip_address(self.host))
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class ConnectAttempt:
    """One connection that was tried; `error` is None when it was made, after `connect_ms`."""

    address: str
    connect_ms: float
    error: OSError | None = None


def find_place(url: str) -> Place:
    """Return where a base URL leads."""
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    return Place(parts.hostname or "", parts.port or (443 if is_tls else 80), is_tls)


async def look_up(place: Place, limit_s: float) -> list[str]:
    """Return the addresses of a host, at most 8. Raises `OSError`, and `TimeoutError`, which is one."""
    async with asyncio.timeout(finite(limit_s)):
        # In a thread of its own: a name server that hangs must not keep the process from ending.
        found = await run_in_thread(socket.getaddrinfo, place.host, place.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))[:MAX_ADDRESSES]


async def try_addresses(addresses: list[str], port: int, limit_s: float) -> list[ConnectAttempt]:
    """Connect to every address at once and close each connection again."""
    return list(await asyncio.gather(*(_try(address, port, limit_s) for address in addresses)))


async def _try(address: str, port: int, limit_s: float) -> ConnectAttempt:
    started, error = time.perf_counter(), None
    try:
        async with asyncio.timeout(finite(limit_s)):
            _, writer = await asyncio.open_connection(address, port)
        writer.transport.abort()
    except OSError as raised:
        error = raised
    return ConnectAttempt(address, (time.perf_counter() - started) * 1000, error)


def finite(limit_s: float) -> float | None:
    """Return a limit as asyncio takes it: None for none."""
    return None if limit_s == math.inf else limit_s


_DAY_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Handshake:
    """What was agreed on; `days_left` is None of a certificate that was not verified, and so says nothing."""

    version: str
    offers_http2: bool
    issuer: str
    days_left: float | None


async def shake_hands(place: Place, address: str, tls: Tls, limit_s: float) -> Handshake:
    """Open a connection of TLS, read its certificate, and close it. Raises `OSError`, as `ssl.SSLError` is one."""
    context = tls.open_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    async with asyncio.timeout(finite(limit_s)):
        _, writer = await asyncio.open_connection(
            address, place.port, ssl=context, server_hostname=place.host.rstrip(".")
        )
    try:
        return _describe(writer.get_extra_info("ssl_object"))
    finally:
        writer.transport.abort()


def _describe(agreed: ssl.SSLObject) -> Handshake:
    certificate: Mapping[str, Any] = agreed.getpeercert() or {}
    ends = certificate.get("notAfter")
    return Handshake(
        version=agreed.version() or "TLS",
        offers_http2=agreed.selected_alpn_protocol() == "h2",
        issuer=_name(certificate.get("issuer", ())),
        days_left=(ssl.cert_time_to_seconds(ends) - time.time()) / _DAY_S if ends else None,
    )


def _name(issuer: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    """Return a distinguished name as people call it: its common name and organisation."""
    parts = dict(part for parts in issuer for part in parts)
    named = [parts[key] for key in ("commonName", "organizationName") if key in parts]
    return ", ".join(dict.fromkeys(named)) or "an issuer without a name"
