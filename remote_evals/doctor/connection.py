"""What there is to say of the connection to a deployment: its name, TCP and TLS."""

import errno
import ipaddress
import os
import ssl
from collections.abc import Sequence

from ..core.durations import render_duration
from ..core.urls import is_loopback
from ..errors import RemoteUnreachableError
from ..targets import RemoteTarget
from ..transport.connecting import Tls, advise_on_certificate, find_proxy
from .findings import Finding, FindingLog, failed, not_checked, passed, warned
from .network import ConnectAttempt, Handshake, Place, find_place, look_up, shake_hands, try_addresses

FEW_DAYS = 21

_IS_IT_UP = "Check that the deployment is up, and that the port is right and open to this machine"
_READABLE = "Use https://: whoever is on the way can read prompts, replies and token, and change them"


def check_name(place: Place, addresses: Sequence[str]) -> Finding:
    """Say where a host name leads."""
    if place.is_address:
        return passed("dns", f"{place.host} is an address, there is no name to look up", addresses=list(addresses))
    return passed("dns", f"{place.host} is {', '.join(addresses)}", addresses=list(addresses))


def check_lost_name(place: Place, error: OSError, limit_s: float) -> Finding:
    """Say why a host name was not found."""
    advice = "Check the URL's spelling, and the DNS of this machine"
    return failed("dns", f"{place.host} was not found ({_reason(error, limit_s)})", advice)


def check_attempts(attempts: Sequence[ConnectAttempt], port: int, limit_s: float) -> Finding:
    """Say which addresses take connections, and how soon."""
    made = [attempt for attempt in attempts if attempt.error is None]
    lost = [(a.address, a.error) for a in attempts if a.error and not (made and _is_no_news(a.address, a.error))]
    shown = ", ".join(f"{address} ({_reason(error, limit_s)})" for address, error in lost)
    if not made:
        return failed("tcp", f"no connection on port {port} to {shown}", _IS_IT_UP)
    first = min(made, key=lambda attempt: attempt.connect_ms)
    happened = f"connected to {first.address} in {render_duration(first.connect_ms / 1000)}"
    values = {"address": first.address, "port": port, "connect_ms": first.connect_ms}
    if lost:
        advice = "Bring that host up, or take its address out of the DNS: some callers meet it"
        return warned("tcp", f"{happened}, but not to {shown}", advice, **values)
    return passed("tcp", happened, **values)


def check_plain_http(*, stays_here: bool) -> Finding:
    """Say what the lack of TLS means."""
    if stays_here:
        return not_checked("tls", "the URL is http://, and of this machine")
    return warned("tls", "the URL is http://, nothing is encrypted", _READABLE)


def check_handshake(place: Place, handshake: Handshake) -> Finding:
    """Say what TLS was agreed on, and for how long the certificate is good."""
    h2 = "; HTTP/2 is offered too, and not used" if handshake.offers_http2 else ""
    values = {"version": handshake.version, "offers_http2": handshake.offers_http2}
    if handshake.days_left is None:
        advice = "Leave out --insecure, and give a private authority by --ca-bundle"
        return warned("tls", f"{handshake.version}, with a certificate that was not looked at{h2}", advice, **values)
    days = int(handshake.days_left)
    happened = (
        f"{handshake.version}, the certificate is for {place.host}, by {handshake.issuer}, {days} day(s) left{h2}"
    )
    values |= {"issuer": handshake.issuer, "days_left": days}
    if days < FEW_DAYS:
        advice = "Renew the certificate, and look why that did not happen by itself"
        return warned("tls", happened, advice, **values)
    return passed("tls", happened, **values)


def check_lost_handshake(error: OSError, limit_s: float) -> Finding:
    """Say why there is no TLS: a certificate that was not accepted, or a port that speaks otherwise."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = (error.verify_message or _reason(error, limit_s)).rstrip(".")
        return failed("tls", f"the certificate was not accepted ({reason})", advise_on_certificate(error))
    return failed("tls", f"the handshake failed ({_reason(error, limit_s)})", "Check that this port speaks https")


def _reason(error: OSError, limit_s: float) -> str:
    match error:
        case ssl.SSLError():
            return (error.reason or "no reason given").replace("_", " ").lower()
        case TimeoutError() if error.errno is None:
            return f"nothing within {render_duration(limit_s)}"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
    return error.strerror or str(error) or "the other side hung up"


def _is_no_news(address: str, error: OSError) -> bool:
    """Say whether nobody else meets it: this machine has no IPv6, or it is the deployment's own."""
    return error.errno in (errno.ENETUNREACH, errno.EAFNOSUPPORT) or ipaddress.ip_address(address).is_loopback


_BEHIND_PROXY = "a proxy is used, and it connects in place of this machine"


async def connect(target: RemoteTarget, tls: Tls, log: FindingLog) -> bool:
    """Look up the name, connect, shake hands, and say whether a request can get through.

    Raises `UsageError` for a proxy in the environment that cannot be used.
    """
    if find_proxy(target.url):
        log.add(*(not_checked(check, _BEHIND_PROXY) for check in ("dns", "tcp", "tls")))
        return True
    place, limit_s = find_place(target.url), target.limits.connect_s
    address = await _connect_tcp(place, limit_s, log)
    is_connected = address is not None and await _connect_tls(place, address, tls, target, log)
    if not is_connected:
        log.break_off(RemoteUnreachableError.code)
    return is_connected


async def _connect_tcp(place: Place, limit_s: float, log: FindingLog) -> str | None:
    """Return the address that answers soonest, None where none does."""
    try:
        addresses = await look_up(place, limit_s)
    except OSError as error:
        log.add(check_lost_name(place, error, limit_s))
        return None
    log.add(check_name(place, addresses))
    attempts = await try_addresses(addresses, place.port, limit_s)
    log.add(check_attempts(attempts, place.port, limit_s))
    made = [attempt for attempt in attempts if attempt.error is None]
    return min(made, key=lambda attempt: attempt.connect_ms).address if made else None


async def _connect_tls(place: Place, address: str, tls: Tls, target: RemoteTarget, log: FindingLog) -> bool:
    if not place.is_tls:
        log.add(check_plain_http(stays_here=is_loopback(target.url)))
        return True
    try:
        handshake = await shake_hands(place, address, tls, target.limits.connect_s)
    except OSError as error:
        log.add(check_lost_handshake(error, target.limits.connect_s))
        return False
    log.add(check_handshake(place, handshake))
    return True
