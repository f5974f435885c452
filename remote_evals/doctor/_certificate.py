"""A TLS handshake with a deployment, as its clients make it, and what its certificate says."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..transport.connecting import Tls
from ._address import Place, finite

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
