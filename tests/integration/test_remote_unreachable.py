"""No connection, in each way: the agent never saw the request, and the message says why."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from remote_evals import Limits, RemoteTarget, RemoteUnreachableError
from tests.integration.serving import PATIENT, WHOLE_RUN, Connection, Failure, fail_among_others, listen, sending
from tests.integration.serving_certificates import Certificate, make_certificate

TLS_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"), "IP:127.0.0.1")


@pytest.fixture(autouse=True)
def _only_known_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in TLS_VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@contextmanager
def closed_port() -> Iterator[str]:
    """Yield an address on which nobody listens, and which nobody else can take meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield "{}:{}".format(*bound.getsockname())


@contextmanager
def full_port() -> Iterator[str]:
    """Yield an address that answers no connect: it lets none in, and none is left to wait."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield "{}:{}".format(*listener.getsockname())


def assert_unreachable(failure: Failure, happened: str, advice: str) -> None:
    assert type(failure.error) is RemoteUnreachableError
    assert happened in failure.error.happened
    assert advice in failure.error.advice
    assert failure.row.run.last_event is None
    assert failure.row.run.timing.headers_ms is None


async def test_a_refused_connection() -> None:
    """Nobody listens: the system's own words, and the advice to look whether the deployment is up."""
    with closed_port() as host:
        failure = await fail_among_others(f"http://{host}/agent?key=1")
    assert_unreachable(failure, "could not connect (Connection refused)", "is up")


async def test_a_name_that_does_not_exist() -> None:
    """A host name that is not found is told from a host that does not answer: .invalid is the name of none."""
    failure = await fail_among_others("http://agent.invalid")
    assert_unreachable(failure, "the host name was not found", "spelling")


async def test_no_answer_to_the_connect() -> None:
    """A host that takes no connection, as behind a firewall that drops, ends by the connect limit."""
    with full_port() as host:
        failure = await fail_among_others(f"http://{host}", limits=Limits(connect_s=0.2))
    assert_unreachable(failure, "no connection in time", "is up")


async def test_tls_to_a_port_that_speaks_plain_http() -> None:
    """https:// to a port of http is a failed handshake, and the advice names the scheme."""
    async with listen(sending(b"HTTP/1.1 400 Bad Request\r\n\r\n"), speaks_http=False) as host:
        failure = await fail_among_others(f"https://{host}")
    assert_unreachable(failure, "the TLS handshake failed", "https")


async def test_tls_that_is_cut_off() -> None:
    """A host that hangs up inside the handshake is one that cannot be reached."""

    async def hang_up(_: Connection) -> None:
        pass

    async with listen(hang_up, speaks_http=False) as host:
        failure = await fail_among_others(f"https://{host}")
    assert_unreachable(failure, "could not connect", "is up")


async def test_an_untrusted_certificate(certificate: Certificate) -> None:
    """A certificate that nobody vouches for is not accepted, and the message gives the reason."""
    async with listen(sending(*WHOLE_RUN), tls=certificate.for_server()) as host:
        failure = await fail_among_others(f"https://{host}")
    assert_unreachable(failure, "the TLS certificate was not accepted (self-signed certificate)", "Renew")


async def test_a_certificate_for_another_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trusted certificate of another host is not accepted either."""
    other = make_certificate(tmp_path, "DNS:other.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(other.path))
    async with listen(sending(*WHOLE_RUN), tls=other.for_server()) as host:
        failure = await fail_among_others(f"https://{host}")
    assert_unreachable(failure, "the TLS certificate was not accepted (IP address mismatch", "host name")


async def test_a_certificate_of_ones_own_authority(certificate: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment whose certificate SSL_CERT_FILE vouches for is reached over TLS as any other."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.path))
    async with (
        listen(sending(*WHOLE_RUN), tls=certificate.for_server()) as host,
        RemoteTarget(f"https://{host}", limits=PATIENT) as target,
        target.open_session() as session,
    ):
        assert (await session.send("hi", 1)).reply == "Hello."
