"""Connects to a deployment step by step, below HTTP, where no proxy hides the steps."""

from ..core.urls import is_loopback
from ..errors import RemoteUnreachableError
from ..targets import RemoteTarget
from ..transport.connecting import Tls, find_proxy
from ._address import Place, find_place, look_up, try_addresses
from ._certificate import shake_hands
from ._connection_checks import (
    check_attempts,
    check_handshake,
    check_lost_handshake,
    check_lost_name,
    check_name,
    check_plain_http,
)
from ._finding import not_checked
from ._journal import Journal

_BEHIND_PROXY = "a proxy is used, and it connects in place of this machine"


async def connect(target: RemoteTarget, tls: Tls, journal: Journal) -> bool:
    """Look up the name, connect, shake hands, and say whether a request can get through.

    Raises `UsageError` for a proxy in the environment that cannot be used.
    """
    if find_proxy(target.url):
        journal.add(*(not_checked(check, _BEHIND_PROXY) for check in ("dns", "tcp", "tls")))
        return True
    place, limit_s = find_place(target.url), target.limits.connect_s
    address = await _connect_tcp(place, limit_s, journal)
    is_connected = address is not None and await _connect_tls(place, address, tls, target, journal)
    if not is_connected:
        journal.break_off(RemoteUnreachableError.code)
    return is_connected


async def _connect_tcp(place: Place, limit_s: float, journal: Journal) -> str | None:
    """Return the address that answers soonest, None where none does."""
    try:
        addresses = await look_up(place, limit_s)
    except OSError as error:
        journal.add(check_lost_name(place, error, limit_s))
        return None
    journal.add(check_name(place, addresses))
    attempts = await try_addresses(addresses, place.port, limit_s)
    journal.add(check_attempts(attempts, place.port, limit_s))
    made = [attempt for attempt in attempts if attempt.error is None]
    return min(made, key=lambda attempt: attempt.connect_ms).address if made else None


async def _connect_tls(place: Place, address: str, tls: Tls, target: RemoteTarget, journal: Journal) -> bool:
    if not place.is_tls:
        journal.add(check_plain_http(stays_here=is_loopback(target.url)))
        return True
    try:
        handshake = await shake_hands(place, address, tls, target.limits.connect_s)
    except OSError as error:
        journal.add(check_lost_handshake(error, target.limits.connect_s))
        return False
    journal.add(check_handshake(place, handshake))
    return True
