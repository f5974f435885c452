"""TLS to a deployment: whom it trusts, and that it is always verified unless somebody says otherwise."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx

from ..errors import UsageError

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


@dataclass(frozen=True, slots=True)
class Tls:
    """Trusts the usual authorities and those in `ca_bundle`, a file of PEM; whoever answers, where `insecure`."""

    ca_bundle: Path | None = None
    insecure: bool = False

    def open_context(self) -> ssl.SSLContext:
        """Return what verifies a connection. Raises `UsageError` for a bundle that cannot be used."""
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
    """Return what to try where a certificate was not accepted."""
    return _ADVICE.get(error.verify_code, "Check the deployment's certificate, and the chain that it sends")


def _load(context: ssl.SSLContext, path: Path) -> None:
    try:
        context.load_verify_locations(path)
    except ssl.SSLError:
        mistake = _describe_empty(path)
    except OSError as error:
        mistake = f"the CA bundle {path} cannot be read: {error.strerror}"
    else:
        return
    raise UsageError(mistake)


def _describe_empty(path: Path) -> str:
    return f"the CA bundle {path} holds no certificate; it should be a PEM file, with -----BEGIN CERTIFICATE-----"
