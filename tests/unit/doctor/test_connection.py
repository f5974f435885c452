"""What a check-up says of name, TCP and TLS."""

import errno
import socket
import ssl

import pytest

from remote_evals.doctor.connection import (
    check_attempts,
    check_handshake,
    check_lost_handshake,
    check_lost_name,
    check_name,
    check_plain_http,
)
from remote_evals.doctor.network import ConnectAttempt, Handshake, Place, find_place

HOST = Place("agent.test", 443, is_tls=True)
REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed")
NO_ROUTE = OSError(errno.ENETUNREACH, "Connect call failed")


def distrust(code: int, message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = code, message
    return error


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://agent.test/a?b=c", HOST),
        ("http://agent.test", Place("agent.test", 80, is_tls=False)),
        ("http://[::1]:8000", Place("::1", 8000, is_tls=False)),
    ],
)
def test_a_url_says_where_to_connect(url: str, place: Place) -> None:
    """Host, port and scheme are the URL's, and the port is that of the scheme where it names none."""
    assert find_place(url) == place


def test_a_name_is_told_with_its_addresses() -> None:
    """All addresses of a name are on the page."""
    found = check_name(HOST, ["192.0.2.1", "2001:db8::1"])
    assert (found.status, found.happened) == ("pass", "agent.test is 192.0.2.1, 2001:db8::1")


def test_an_address_needs_no_name() -> None:
    """A URL with an address says that there was nothing to look up."""
    found = check_name(Place("192.0.2.1", 443, is_tls=True), ["192.0.2.1"])
    assert (found.status, found.happened) == ("pass", "192.0.2.1 is an address, there is no name to look up")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (TimeoutError(), "nothing within 1.5s"),
    ],
)
def test_a_name_that_is_not_found(error: OSError, reason: str) -> None:
    """A name that the DNS does not know, or that it gives no answer to, fails with the reason."""
    found = check_lost_name(HOST, error, 1.5)
    assert (found.status, found.happened) == ("fail", f"agent.test was not found ({reason})")
    assert "DNS" in found.advice


def test_the_soonest_connection_counts() -> None:
    """Of several addresses that answer, the soonest is named, with its time."""
    found = check_attempts([ConnectAttempt("192.0.2.1", 30.0), ConnectAttempt("192.0.2.2", 12.4)], 443, 10)
    assert (found.status, found.happened) == ("pass", "connected to 192.0.2.2 in 12ms")
    assert found.values == {"address": "192.0.2.2", "port": 443, "connect_ms": 12.4}


def test_an_address_that_is_dead_among_others_is_a_warning() -> None:
    """A host that the DNS names and that refuses is met by some callers, so it is told."""
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
    """That a machine has no IPv6, or listens on one loopback address only, says nothing about the deployment."""
    assert check_attempts([ConnectAttempt("192.0.2.1", 12), lost], 443, 10).status == "pass"


def test_no_connection_is_told_with_every_reason() -> None:
    """When no address answers, all are named with port and reason, also those that have no route."""
    attempts = [ConnectAttempt("192.0.2.1", 10_000, TimeoutError()), ConnectAttempt("2001:db8::1", 0, NO_ROUTE)]
    found = check_attempts(attempts, 8443, 10)
    assert found.status == "fail"
    assert found.happened == (
        "no connection on port 8443 to 192.0.2.1 (nothing within 10.0s), 2001:db8::1 (Network is unreachable)"
    )
    assert "port" in found.advice


@pytest.mark.parametrize(("stays_here", "status"), [(True, "not_checked"), (False, "warn")])
def test_plain_http_is_a_warning_but_on_this_machine(stays_here: bool, status: str) -> None:
    """Without TLS others can read along, unless nothing leaves the machine."""
    assert check_plain_http(stays_here=stays_here).status == status


@pytest.mark.parametrize(("days", "status"), [(90.2, "pass"), (21.0, "pass"), (20.9, "warn"), (0.4, "warn")])
def test_a_certificate_that_ends_soon_is_a_warning(days: float, status: str) -> None:
    """Under 21 days there is something to do."""
    found = check_handshake(HOST, Handshake("TLSv1.3", offers_http2=False, issuer="R11", days_left=days))
    assert found.status == status
    assert found.happened == f"TLSv1.3, the certificate is for agent.test, by R11, {int(days)} day(s) left"
    assert bool(found.advice) == (status == "warn")


def test_http2_is_told_and_changes_nothing() -> None:
    """That a server offers HTTP/2 is information."""
    found = check_handshake(HOST, Handshake("TLSv1.3", offers_http2=True, issuer="R11", days_left=90))
    assert (found.status, found.values["offers_http2"]) == ("pass", True)
    assert found.happened.endswith("; HTTP/2 is offered too, and not used")


def test_a_certificate_that_nobody_looked_at_is_a_warning() -> None:
    """With --insecure, nothing is known of the certificate, and that is told."""
    found = check_handshake(HOST, Handshake("TLSv1.3", offers_http2=False, issuer="", days_left=None))
    assert (found.status, found.happened) == ("warn", "TLSv1.3, with a certificate that was not looked at")
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
    """OpenSSL's reason is on the page, and the advice fits it."""
    found = check_lost_handshake(distrust(code, message), 10)
    assert (found.status, found.happened) == ("fail", f"the certificate was not accepted ({message})")
    assert advice in found.advice


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionResetError(), "the other side hung up"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "Connection reset by peer"),
        (TimeoutError(), "nothing within 10.0s"),
    ],
)
def test_a_handshake_that_fails(error: OSError, reason: str) -> None:
    """A port that does not speak TLS is told from a certificate that is not accepted."""
    found = check_lost_handshake(error, 10)
    assert (found.status, found.happened) == ("fail", f"the handshake failed ({reason})")
    assert "https" in found.advice
