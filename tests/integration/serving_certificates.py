"""Certificates for deployments on this machine, made anew by the openssl command."""

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Certificate:
    """A certificate that vouches for itself, and its key."""

    path: Path
    key: Path

    def for_server(self) -> ssl.SSLContext:
        """Return what a server needs to show it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path, self.key)
        return context


def make_certificate(folder: Path, name: str) -> Certificate:
    """Return a certificate for a subject such as `IP:127.0.0.1` or `DNS:other.test`; skips where openssl is missing."""
    if not shutil.which("openssl"):
        pytest.skip("making a certificate takes the openssl command")
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(made.key)]
    subject = ["-subj", "/CN=fake deployment", "-addext", f"subjectAltName={name}", "-days", "2"]
    subprocess.run(
        ["openssl", "req", "-x509", *key, *subject, "-out", str(made.path)], check=True, capture_output=True, timeout=30
    )
    return made
