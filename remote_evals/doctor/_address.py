"""The way to a deployment below HTTP: its name, and a connection to each of its addresses."""

import asyncio
import ipaddress
import math
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..core.threads import run_in_thread

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
class Attempt:
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


async def try_addresses(addresses: list[str], port: int, limit_s: float) -> list[Attempt]:
    """Connect to every address at once and close each connection again."""
    return list(await asyncio.gather(*(_try(address, port, limit_s) for address in addresses)))


async def _try(address: str, port: int, limit_s: float) -> Attempt:
    started, error = time.perf_counter(), None
    try:
        async with asyncio.timeout(finite(limit_s)):
            _, writer = await asyncio.open_connection(address, port)
        writer.transport.abort()
    except OSError as raised:
        error = raised
    return Attempt(address, (time.perf_counter() - started) * 1000, error)


def finite(limit_s: float) -> float | None:
    """Return a limit as asyncio takes it: None for none."""
    return None if limit_s == math.inf else limit_s
