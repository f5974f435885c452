"""Connects to a deployment step by step, below HTTP, and reports on its DNS name, TCP and TLS.

Through a proxy these steps cannot be seen, so they are not checked.
"""

import errno
import ipaddress
import os
import ssl
from collections.abc import Sequence

from ..core.durations import render_duration
from ..core.urls import is_loopback
from ..errors import RemoteUnreachableError
from ..targets import RemoteTarget
from ..transport.connecting import advise_on_certificate, find_proxy
from .findings import Finding, FindingLog, failed, not_checked, passed, warned
from .network import (
    ConnectAttempt,
    Endpoint,
    Handshake,
    do_handshake,
    look_up_addresses,
    parse_endpoint,
    try_addresses,
)

FEW_DAYS = 21

_IS_IT_UP = "Check that the deployment is up, and that the port is right and open to this machine"
_UNENCRYPTED = "Use https://: anyone on the network path can read and change prompts, replies and token"
_BEHIND_PROXY = "a proxy is used, which connects instead of this machine"


async def connect(target: RemoteTarget, log: FindingLog) -> bool:
    """Look up the name, connect over TCP and do the TLS handshake; return whether a request can get through.

    Raises `UsageError` for a proxy in the environment that cannot be used.
    """
    if find_proxy(target.url):
        log.add(*(not_checked(check, _BEHIND_PROXY) for check in ("dns", "tcp", "tls")))
        return True
    endpoint = parse_endpoint(target.url)
    address = await _connect_tcp(endpoint, target.limits.connect_s, log)
    is_connected = address is not None and await _connect_tls(endpoint, address, target, log)
    if not is_connected:
        log.break_off(RemoteUnreachableError.code)
    return is_connected


async def _connect_tcp(endpoint: Endpoint, limit_s: float, log: FindingLog) -> str | None:
    """Return the address that connects fastest, or None if none does."""
    try:
        addresses = await look_up_addresses(endpoint, limit_s)
    except OSError as error:
        log.add(check_failed_lookup(endpoint, error, limit_s))
        return None
    log.add(check_lookup(endpoint, addresses))
    attempts = await try_addresses(addresses, endpoint.port, limit_s)
    log.add(check_attempts(attempts, endpoint.port, limit_s))
    connected = _list_connected(attempts)
    return connected[0].address if connected else None


async def _connect_tls(endpoint: Endpoint, address: str, target: RemoteTarget, log: FindingLog) -> bool:
    if not endpoint.is_tls:
        log.add(check_plain_http(is_local=is_loopback(target.url)))
        return True
    try:
        handshake = await do_handshake(endpoint, address, target.tls, target.limits.connect_s)
    except OSError as error:
        log.add(check_failed_handshake(error, target.limits.connect_s))
        return False
    log.add(check_handshake(endpoint, handshake))
    return True


def check_lookup(endpoint: Endpoint, addresses: Sequence[str]) -> Finding:
    """Return the addresses of the host as a finding."""
    if endpoint.is_address:
        happened = f"{endpoint.host} is an address, so there is no name to look up"
    else:
        happened = f"{endpoint.host} is {', '.join(addresses)}"
    return passed("dns", happened, addresses=list(addresses))


def check_failed_lookup(endpoint: Endpoint, error: OSError, limit_s: float) -> Finding:
    """Return why the host name was not found."""
    advice = "Check the URL's spelling, and the DNS of this machine"
    return failed("dns", f"{endpoint.host} was not found ({_render_error(error, limit_s)})", advice)


def check_attempts(attempts: Sequence[ConnectAttempt], port: int, limit_s: float) -> Finding:
    """Return which addresses accept connections, and how long the fastest took."""
    connected = _list_connected(attempts)
    errors = [
        (attempt.address, attempt.error)
        for attempt in attempts
        if attempt.error and not (connected and _is_local_problem(attempt.address, attempt.error))
    ]
    shown = ", ".join(f"{address} ({_render_error(error, limit_s)})" for address, error in errors)
    if not connected:
        return failed("tcp", f"no connection on port {port} to {shown}", _IS_IT_UP)
    fastest = connected[0]
    happened = f"connected to {fastest.address} in {render_duration(fastest.connect_ms / 1000)}"
    values = {"address": fastest.address, "port": port, "connect_ms": fastest.connect_ms}
    if errors:
        advice = "Bring that host up, or remove its address from the DNS: some clients connect to it"
        return warned("tcp", f"{happened}, but not to {shown}", advice, **values)
    return passed("tcp", happened, **values)


def _list_connected(attempts: Sequence[ConnectAttempt]) -> list[ConnectAttempt]:
    """Return the attempts that succeeded, the fastest first."""
    return sorted((attempt for attempt in attempts if attempt.error is None), key=lambda attempt: attempt.connect_ms)


def _is_local_problem(address: str, error: OSError) -> bool:
    """Return whether an error concerns this machine alone: it has no IPv6, or the address is its own."""
    return error.errno in (errno.ENETUNREACH, errno.EAFNOSUPPORT) or ipaddress.ip_address(address).is_loopback


def check_plain_http(*, is_local: bool) -> Finding:
    """Return what the lack of TLS means."""
    if is_local:
        return not_checked("tls", "the URL is http://, on this machine")
    return warned("tls", "the URL is http://, nothing is encrypted", _UNENCRYPTED)


def check_handshake(endpoint: Endpoint, handshake: Handshake) -> Finding:
    """Return the TLS version that was agreed on, and for how long the certificate is valid."""
    h2 = "; HTTP/2 is offered too, and not used" if handshake.offers_http2 else ""
    values = {"version": handshake.version, "offers_http2": handshake.offers_http2}
    if handshake.days_left is None:
        advice = "Leave out --insecure, and trust a private CA with --ca-bundle"
        return warned("tls", f"{handshake.version}, with a certificate that was not verified{h2}", advice, **values)
    days = int(handshake.days_left)
    certificate = f"the certificate is for {endpoint.host}, issued by {handshake.issuer}, {days} day(s) left"
    happened = f"{handshake.version}, {certificate}{h2}"
    values |= {"issuer": handshake.issuer, "days_left": days}
    if days < FEW_DAYS:
        advice = "Renew the certificate, and find out why it was not renewed automatically"
        return warned("tls", happened, advice, **values)
    return passed("tls", happened, **values)


def check_failed_handshake(error: OSError, limit_s: float) -> Finding:
    """Return why there is no TLS: the certificate was not accepted, or the port does not speak TLS."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = (error.verify_message or _render_error(error, limit_s)).rstrip(".")
        return failed("tls", f"the certificate was not accepted ({reason})", advise_on_certificate(error))
    reason = _render_error(error, limit_s)
    return failed("tls", f"the handshake failed ({reason})", "Check that this port speaks https")


def _render_error(error: OSError, limit_s: float) -> str:
    match error:
        case ssl.SSLError():
            return (error.reason or "no reason given").replace("_", " ").lower()
        case TimeoutError() if error.errno is None:
            return f"no answer within {render_duration(limit_s)}"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
    return error.strerror or str(error) or "the server closed the connection"
