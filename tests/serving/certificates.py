"""A certificate authority that only the tests trust, and the certificates that it issues to deployments."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trustme


class Authority:
    """The certificate authority of the tests; `bundle` is the file with its own certificate."""

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA()
        self.bundle = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(str(self.bundle))

    def certify(self, name: str, *, valid_for: timedelta = timedelta(days=1)) -> ssl.SSLContext:
        """Return the TLS context of a server with this address or name; a `valid_for` below zero has expired."""
        until = datetime.now(UTC) + valid_for
        certificate = self._authority.issue_cert(name, not_before=until - timedelta(days=2), not_after=until)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(context)
        return context
