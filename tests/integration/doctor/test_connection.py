"""What `doctor` finds about the connection to a deployment: DNS, TCP, TLS, proxy and health."""

import asyncio
import socket
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from remote_evals import Limits
from tests.contract.replay import Connection
from tests.serving.certificates import Authority
from tests.serving.deployments import listen, sending, serve
from tests.serving.diagnosis import BEARER, RECALL, TOKEN, Agent, assert_broken_off, examine_at, find, statuses
from tests.serving.leaks import PROXY_PASSWORD
from tests.serving.ports import closed_port
from tests.serving.proxy import open_proxy


@pytest.fixture(autouse=True)
def _nothing_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("fault", "happened"),
    [("unavailable", "the answer was 503"), ({"name": "reset", "before_headers": True}, "before it answered")],
    ids=str,
)
async def test_a_health_that_is_not_well_is_a_warning(fault: object, happened: str) -> None:
    """A /health that fails is only a warning, because no suite needs it."""
    with serve(RECALL, {"text": "noted"}, health=[{"fault": fault}]) as server:
        found = await find(server.url)
    assert statuses(found, "health", "turn", "memory") == ["warn", "pass", "pass"]
    assert happened in found["health"].happened


async def test_a_closed_port() -> None:
    """If the port is closed, TCP fails and no later check is made."""
    with closed_port() as host:
        diagnosis, reported = await examine_at(f"http://{host}")
    found = {finding.check: finding for finding in reported}
    assert_broken_off(found, "tcp", "TCP")
    assert "127.0.0.1 (Connection refused)" in found["tcp"].happened
    assert diagnosis.error_code == "REMOTE_UNREACHABLE"


async def test_a_name_that_does_not_exist() -> None:
    """An unknown host name fails at DNS."""
    assert_broken_off(await find("https://agent.invalid"), "dns", "DNS")


async def test_a_name_server_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connect timeout also limits the DNS lookup."""
    released = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait() and [])
    found = await find("https://agent.test", limits=Limits(connect_s=0.1))
    released.set()
    assert found["dns"].happened == "agent.test was not found (no answer within 100ms)"


@pytest.mark.parametrize(
    ("name", "days", "reason"),
    [
        ("127.0.0.1", -1, "certificate has expired"),
        ("127.0.0.1", 90, "certificate is not yet valid"),
        ("other.test", 1, "IP address mismatch"),
    ],
)
async def test_a_certificate_that_does_not_do(name: str, days: int, reason: str, tmp_path: Path) -> None:
    """A certificate that is expired, not yet valid or for another host fails, and no token is sent."""
    authority, agent = Authority(tmp_path), Agent(BEARER)
    async with agent.serve(authority.certify(name, valid_for=timedelta(days=days))) as url:
        found = await find(url, TOKEN, ca_bundle=authority.bundle)
    assert_broken_off(found, "tls", "TLS")
    assert reason in found["tls"].happened
    assert agent.turns == []


async def test_an_authority_that_nobody_knows(tmp_path: Path) -> None:
    """A certificate of an unknown CA fails, and the advice names the option for a private CA."""
    async with Agent(BEARER).serve(Authority(tmp_path).certify("127.0.0.1")) as url:
        found = await find(url, TOKEN)
    assert_broken_off(found, "tls", "TLS")
    assert "--ca-bundle" in found["tls"].advice


async def test_any_certificate_is_a_warning(tmp_path: Path) -> None:
    """With --insecure, an invalid certificate is a warning, and the later checks are made."""
    async with Agent(BEARER).serve(Authority(tmp_path).certify("other.test")) as url:
        found = await find(url, TOKEN, insecure=True)
    assert statuses(found, "tls", "turn") == ["warn", "pass"]


async def test_http2_that_is_offered_is_told(tmp_path: Path) -> None:
    """A server that prefers HTTP/2 passes, and HTTP/1.1 is used."""
    authority = Authority(tmp_path)
    context = authority.certify("127.0.0.1")
    context.set_alpn_protocols(["h2", "http/1.1"])
    async with Agent(BEARER).serve(context) as url:
        found = await find(url, TOKEN, ca_bundle=authority.bundle)
    assert found["tls"].values["offers_http2"] is True
    assert found["http"].happened == "HTTP/1.1"


async def test_a_port_that_does_not_speak_tls() -> None:
    """An https:// URL to a plain HTTP port fails at the handshake."""
    async with listen(sending(b"HTTP/1.1 400 Bad Request\r\n\r\n"), speaks_http=False) as host:
        found = await find(f"https://{host}")
    assert_broken_off(found, "tls", "TLS")
    assert "the handshake failed" in found["tls"].happened


async def test_a_handshake_that_hangs_is_given_up_and_closed() -> None:
    """A hanging handshake ends at the connect timeout, and every connection is closed."""
    gone = asyncio.Semaphore(0)

    async def hang(connection: Connection) -> None:
        await connection.gone()
        gone.release()

    async with listen(hang, speaks_http=False) as host:
        found = await find(f"https://{host}", limits=Limits(connect_s=0.2))
        assert found["tls"].happened == "the handshake failed (no answer within 200ms)"
        async with asyncio.timeout(5):
            for _ in ("TCP", "TLS"):
                await gone.acquire()


async def test_a_proxy_hides_what_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a proxy, DNS, TCP and TLS are not checked, and the later checks are made."""
    with serve(RECALL, {"text": "noted"}) as server:
        async with open_proxy(server.url) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://me:{PROXY_PASSWORD}@{proxy.host}")
            diagnosis, reported = await examine_at("http://agent.test")
    found = {finding.check: finding for finding in reported}
    assert statuses(found, "dns", "tcp", "tls") == ["not_checked"] * 3
    assert "a proxy is used" in found["dns"].happened
    assert statuses(found, "health", "turn", "memory") == ["pass"] * 3
    assert PROXY_PASSWORD not in repr(diagnosis)
