"""The findings on DNS name, TCP and TLS."""

import errno
import socket
import ssl

import pytest

from remote_evals.doctor.connection import (
    check_attempts,
    check_failed_handshake,
    check_failed_lookup,
    check_handshake,
    check_lookup,
    check_plain_http,
)
from remote_evals.doctor.network import ConnectAttempt, Endpoint, Handshake, parse_endpoint

HOST = Endpoint("agent.test", 443, is_tls=True)
REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed")
NO_ROUTE = OSError(errno.ENETUNREACH, "Connect call failed")


def make_certificate_error(code: int, message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = code, message
    return error


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("https://agent.test/a?b=c", HOST),
        ("http://agent.test", Endpoint("agent.test", 80, is_tls=False)),
        ("http://[::1]:8000", Endpoint("::1", 8000, is_tls=False)),
    ],
)
def test_a_url_says_where_to_connect(url: str, endpoint: Endpoint) -> None:
    """Host, port and scheme come from the URL; without a port, the scheme's default applies."""
    assert parse_endpoint(url) == endpoint


def test_a_name_is_told_with_its_addresses() -> None:
    """All addresses of a name are on the page."""
    found = check_lookup(HOST, ["192.0.2.1", "2001:db8::1"])
    assert (found.status, found.happened) == ("pass", "agent.test is 192.0.2.1, 2001:db8::1")


def test_an_address_needs_no_name() -> None:
    """For a URL with an IP address, the finding says that there is no name to look up."""
    found = check_lookup(Endpoint("192.0.2.1", 443, is_tls=True), ["192.0.2.1"])
    assert (found.status, found.happened) == ("pass", "192.0.2.1 is an address, so there is no name to look up")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (TimeoutError(), "no answer within 1.5s"),
    ],
)
def test_a_name_that_is_not_found(error: OSError, reason: str) -> None:
    """An unknown name, or a DNS server that does not answer, fails with the reason."""
    found = check_failed_lookup(HOST, error, 1.5)
    assert (found.status, found.happened) == ("fail", f"agent.test was not found ({reason})")
    assert "DNS" in found.advice


def test_the_soonest_connection_counts() -> None:
    """Of several addresses that accept a connection, the fastest is named with its time."""
    found = check_attempts([ConnectAttempt("192.0.2.1", 30.0), ConnectAttempt("192.0.2.2", 12.4)], 443, 10)
    assert (found.status, found.happened) == ("pass", "connected to 192.0.2.2 in 12ms")
    assert found.values == {"address": "192.0.2.2", "port": 443, "connect_ms": 12.4}


def test_an_address_that_is_dead_among_others_is_a_warning() -> None:
    """An address that refuses connections while another accepts them is a warning, because some clients use it."""
    found = check_attempts([ConnectAttempt("192.0.2.1", 12, None), ConnectAttempt("192.0.2.2", 1, REFUSED)], 443, 10)
    assert found.status == "warn"
    assert found.happened == "connected to 192.0.2.1 in 12ms, but not to 192.0.2.2 (Connection refused)"
    assert "DNS" in found.advice


@pytest.mark.parametrize(
    "lost",
    [ConnectAttempt("2001:db8::1", 0, NO_ROUTE), ConnectAttempt("::1", 0, REFUSED)],
    ids=["no IPv6 here", "own machine"],
)
def test_an_address_that_only_this_machine_does_not_reach_is_no_warning(lost: ConnectAttempt) -> None:
    """An address that fails only because of this machine is ignored if another connects."""
    assert check_attempts([ConnectAttempt("192.0.2.1", 12), lost], 443, 10).status == "pass"


def test_no_connection_is_told_with_every_reason() -> None:
    """If no address connects, all are named with port and reason, even those without a route."""
    attempts = [ConnectAttempt("192.0.2.1", 10_000, TimeoutError()), ConnectAttempt("2001:db8::1", 0, NO_ROUTE)]
    found = check_attempts(attempts, 8443, 10)
    assert found.status == "fail"
    assert found.happened == (
        "no connection on port 8443 to 192.0.2.1 (no answer within 10.0s), 2001:db8::1 (Network is unreachable)"
    )
    assert "port" in found.advice


@pytest.mark.parametrize(("is_local", "status"), [(True, "not_checked"), (False, "warn")])
def test_plain_http_is_a_warning_but_on_this_machine(is_local: bool, status: str) -> None:
    """A URL without TLS is a warning, unless it is on this machine."""
    assert check_plain_http(is_local=is_local).status == status


@pytest.mark.parametrize(("days", "status"), [(90.2, "pass"), (21.0, "pass"), (20.9, "warn"), (0.4, "warn")])
def test_a_certificate_that_ends_soon_is_a_warning(days: float, status: str) -> None:
    """A certificate with fewer than 21 days left is a warning with advice."""
    found = check_handshake(HOST, Handshake("TLSv1.3", offers_http2=False, issuer="R11", days_left=days))
    assert found.status == status
    assert found.happened == f"TLSv1.3, the certificate is for agent.test, issued by R11, {int(days)} day(s) left"
    assert bool(found.advice) == (status == "warn")


def test_http2_is_told_and_changes_nothing() -> None:
    """A server that also offers HTTP/2 passes, and the finding mentions it."""
    found = check_handshake(HOST, Handshake("TLSv1.3", offers_http2=True, issuer="R11", days_left=90))
    assert (found.status, found.values["offers_http2"]) == ("pass", True)
    assert found.happened.endswith("; HTTP/2 is offered too, and not used")


def test_a_certificate_that_nobody_looked_at_is_a_warning() -> None:
    """With --insecure, the finding warns that the certificate was not verified."""
    found = check_handshake(HOST, Handshake("TLSv1.3", offers_http2=False, issuer="", days_left=None))
    assert (found.status, found.happened) == ("warn", "TLSv1.3, with a certificate that was not verified")
    assert "--insecure" in found.advice


@pytest.mark.parametrize(
    ("code", "message", "advice"),
    [
        (10, "certificate has expired", "Renew"),
        (9, "certificate is not yet valid", "clock"),
        (62, "Hostname mismatch", "host name"),
        (64, "IP address mismatch", "address"),
        (20, "unable to get local issuer certificate", "--ca-bundle"),
    ],
)
def test_a_certificate_that_is_not_accepted(code: int, message: str, advice: str) -> None:
    """The finding gives OpenSSL's reason, with matching advice."""
    found = check_failed_handshake(make_certificate_error(code, message), 10)
    assert (found.status, found.happened) == ("fail", f"the certificate was not accepted ({message})")
    assert advice in found.advice


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionResetError(), "the server closed the connection"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "Connection reset by peer"),
        (TimeoutError(), "no answer within 10.0s"),
    ],
)
def test_a_handshake_that_fails(error: OSError, reason: str) -> None:
    """A handshake that fails for another reason than the certificate gives that reason."""
    found = check_failed_handshake(error, 10)
    assert (found.status, found.happened) == ("fail", f"the handshake failed ({reason})")
    assert "https" in found.advice
