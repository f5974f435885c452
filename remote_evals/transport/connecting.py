"""Which TLS certificates are trusted on the way to a deployment, and which proxy is used."""

import base64
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from ..core.urls import has_valid_host, is_loopback
from ..errors import UsageError
from ..redaction import Redactor, Secret

_UNKNOWN_ISSUER = "Check who issued it; if it is an authority of your own, give its certificate by --ca-bundle"
_NO_CHAIN = f"{_UNKNOWN_ISSUER}, and else let the deployment send its whole chain"
# By the numbers of OpenSSL: https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/.
_ADVICE = {
    **dict.fromkeys((18, 19), _UNKNOWN_ISSUER),
    **dict.fromkeys((2, 20, 21), _NO_CHAIN),
    9: "Check this machine's clock, and from when on the certificate is valid",
    10: "Renew the deployment's certificate",
    62: "Check the URL's host name, or get a certificate that names it",
    64: "Check the URL's address, or get a certificate that names it",
}

_NO_HTTP = "is not an http:// or https:// address; another kind of proxy, such as SOCKS, cannot be used"
_NO_ADDRESS = (
    "is not the address of a proxy; write it as http://host:port or http://user:password@host:port, and percent-encode "
    "the password: '/' is %2F, '#' is %23, '?' is %3F"
)


@dataclass(frozen=True, slots=True)
class Tls:
    """Trusts the usual authorities and those in `ca_bundle`, a PEM file; accepts any certificate if `insecure`."""

    ca_bundle: Path | None = None
    insecure: bool = False

    def open_context(self) -> ssl.SSLContext:
        """Return the context that verifies connections. Raises `UsageError` for a bundle that cannot be used."""
        context = httpx.create_ssl_context(verify=not self.insecure)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.ca_bundle and not self.insecure:
            _load(context, self.ca_bundle)
        return context


def check_tls(ca_bundle: Path | str | None, *, insecure: bool) -> Tls:
    """Return these settings. Raises `UsageError` for a bundle that is missing or holds no certificate."""
    path = None if ca_bundle is None else Path(ca_bundle)
    if path:
        empty = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        _load(empty, path)
        if not empty.cert_store_stats()["x509"]:
            raise UsageError(_describe_empty(path))
    return Tls(path, insecure)


def advise_on_certificate(error: ssl.SSLCertVerificationError) -> str:
    """Return what to try when a certificate was not accepted."""
    return _ADVICE.get(error.verify_code, "Check the deployment's certificate, and the chain that it sends")


def _load(context: ssl.SSLContext, path: Path) -> None:
    try:
        context.load_verify_locations(path)
    except ssl.SSLError:
        problem = _describe_empty(path)
    except OSError as error:
        problem = f"the CA bundle {path} cannot be read: {error.strerror}"
    else:
        return
    raise UsageError(problem)


def _describe_empty(path: Path) -> str:
    return f"the CA bundle {path} holds no certificate; it should be a PEM file, with -----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy. Its address may hold a password, so it is a secret as a whole."""

    address: Secret

    @property
    def speaks_tls(self) -> bool:
        """Whether the connection to the proxy itself uses TLS."""
        return urlsplit(self.address.reveal()).scheme == "https"

    def hide_from(self, redactor: Redactor) -> None:
        """Add the password to the redactor, alone and as it is sent; a user name without a password may be a key."""
        user, password = _read_pair(urlsplit(self.address.reveal()))
        if user or password:
            for secret in (password or user, f"{user}:{password}", _encode_pair(user, password)):
                redactor.add(Secret(secret))

    def build(self) -> httpx.Proxy:
        """Return the proxy in the form that httpx takes."""
        parts = urlsplit(self.address.reveal())
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        if parts.username is None:
            return httpx.Proxy(url)
        # aiohttp makes Proxy-Authorization of it; a user name in the URL would make it warn instead.
        return httpx.Proxy(url, headers={"Authorization": f"Basic {_encode_pair(*_read_pair(parts))}"})


def find_proxy(url: str) -> Proxy | None:
    """Return the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY set for a URL, or None; loopback has none.

    Raises `UsageError`, which never repeats the address, for one that is not that of an HTTP proxy. An address with a
    path, a query or a fragment is none: they are the rest of a password that was not encoded, and the host is wrong.
    """
    scheme = _find_scheme(url)
    if scheme is None:
        return None
    given = getproxies()[scheme]
    proxy = Proxy(Secret(given if "://" in given else f"http://{given}"))
    del given
    if problem := _find_problem(proxy):
        raise UsageError(f"{_name_variable(scheme)} {problem}")
    return proxy


def _find_scheme(url: str) -> str | None:
    """Return the scheme under which the environment sets the URL's proxy: the URL's own or "all"; None for no proxy."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(url) or proxy_bypass(f"{host}:{parts.port}" if parts.port else host):
        return None
    return next((scheme for scheme in (parts.scheme, "all") if getproxies().get(scheme)), None)


def _name_variable(scheme: str) -> str:
    # The lower-case name overrides the upper-case one, and is the only one read in a CGI script.
    names = (f"{scheme}_proxy", f"{scheme}_proxy".upper())
    return next((name for name in names if os.environ.get(name)), f"the {scheme} proxy of this machine's settings")


def _find_problem(proxy: Proxy) -> str | None:
    try:
        parts = urlsplit(proxy.address.reveal())
        if parts.scheme not in ("http", "https"):
            return _NO_HTTP
        proxy.build()
    except (ValueError, httpx.InvalidURL):
        return _NO_ADDRESS
    is_bare = parts.path in ("", "/") and not parts.query and not parts.fragment
    return None if is_bare and parts.hostname and has_valid_host(parts) else _NO_ADDRESS


def _read_pair(parts: SplitResult) -> tuple[str, str]:
    return unquote(parts.username or ""), unquote(parts.password or "")


def _encode_pair(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()
