"""Proxies from the environment, each a real one on this machine; a .test name is one that only a proxy can find."""

import base64
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from fake_server import FakeServer, parse_script
from remote_evals import RemoteStatusError, RemoteTarget, RemoteUnreachableError, RunResult
from remote_evals.redaction import REDACTED
from tests.serving.certificates import Authority
from tests.serving.deployments import PATIENT, Connection, fail_among_others, listen, serve
from tests.serving.leaks import PROXY_PASSWORD as PASSWORD
from tests.serving.leaks import assert_error_keeps_secrets, assert_no_leak
from tests.serving.proxy import NOT_LOOPBACK, forget_proxies, open_proxy


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


NEEDS_IPV6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


@pytest.fixture(autouse=True)
def _no_proxy_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


async def ask(url: str, token: str | None = None, **target: Any) -> RunResult:
    opened = RemoteTarget(url, token, limits=PATIENT, insecure_http=True, **target)
    async with opened, opened.open_session() as session:
        return await session.send("hi", 1)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http://", ""])
async def test_the_proxy_of_the_environment_is_used(
    variable: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deployment elsewhere is asked through the proxy that the environment sets, token and all."""
    with serve(token="t0ken-t0ken", base_path="/api") as server:
        async with open_proxy(server.url) as proxy:
            monkeypatch.setenv(variable, f"{scheme}{proxy.host}")
            run = await ask("http://agent.test:8080/api", "t0ken-t0ken")
    assert run.reply == "Hello."
    assert proxy.request_lines == ["POST http://agent.test:8080/api/chat HTTP/1.1"]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", pytest.param("[::1]", marks=NEEDS_IPV6)])
async def test_loopback_never_goes_through_a_proxy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment on this machine is asked directly, whatever the environment says."""
    server = FakeServer(parse_script("replies: [text: Hello.]"), host="::1" if name == "[::1]" else "127.0.0.1")
    with server:
        async with open_proxy(server.url) as proxy:
            for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(variable, f"http://{proxy.host}")
            assert (await ask(re.sub("//.*:", f"//{name}:", server.url))).reply == "Hello."
    assert proxy.asked == []


@pytest.mark.parametrize(
    ("no_proxy", "uses_proxy"),
    [("", True), ("other.test", True), (NOT_LOOPBACK, False), (f"a.test, {NOT_LOOPBACK}", False), ("*", False)],
)
async def test_no_proxy_is_respected(no_proxy: str, uses_proxy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that NO_PROXY names is asked directly, any other through the proxy."""
    with serve() as server:
        async with open_proxy(server.url) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
            monkeypatch.setenv("NO_PROXY", no_proxy)
            run = await ask(server.url.replace("127.0.0.1", NOT_LOOPBACK))
    assert run.reply == "Hello."
    assert len(proxy.asked) == uses_proxy


async def test_a_proxy_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that cannot be reached is told as such: it is not the deployment that is down."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTP_PROXY", "http://me:{}@{}:{}".format(PASSWORD, *bound.getsockname()))
        failure = await fail_among_others("http://agent.test")
    assert type(failure.error) is RemoteUnreachableError
    assert "proxy could not be reached" in failure.error.happened
    assert "HTTP_PROXY" in failure.error.advice
    assert_no_leak([("report", repr(failure.report))])
    assert_error_keeps_secrets(failure.error)


async def test_a_proxy_that_refuses_the_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that does not let a TLS connection through is told by its status."""
    with serve() as server:
        async with open_proxy(server.url) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.host}")
            failure = await fail_among_others("https://agent.test")
    assert type(failure.error) is RemoteUnreachableError
    assert failure.error.happened == "the proxy answered 403"
    assert proxy.request_lines == ["CONNECT agent.test:443 HTTP/1.1"]


async def test_a_proxy_that_wants_another_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy gets its user and password, and a 407 is told without them, even where the proxy echoes them."""
    basic = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
    seen: list[str | None] = []

    async def refuse(connection: Connection) -> None:
        seen.append(connection.header("proxy-authorization"))
        body = f"no: {PASSWORD} {basic}".encode()
        await connection.send([b"HTTP/1.1 407 No\r\ncontent-length: %d\r\n\r\n" % len(body), body])

    async with listen(refuse) as host:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:{PASSWORD}@{host}")
        failure = await fail_among_others("http://agent.test")
    assert seen == [f"Basic {basic}"]
    assert type(failure.error) is RemoteStatusError
    assert failure.error.status == 407
    assert failure.error.happened == f"the answer was 407: no: {REDACTED} {REDACTED}"


async def test_the_deployment_never_sees_the_proxy_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The credentials of a proxy are for the proxy alone."""
    with serve() as server:
        async with open_proxy(server.url) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://me:{PASSWORD}@{proxy.host}")
            await ask("http://agent.test")
        [request] = server.requests
    assert proxy.asked[0].header("proxy-authorization")
    assert "proxy-authorization" not in request.headers
    assert "authorization" not in request.headers


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
async def test_a_proxy_behind_tls_is_verified(is_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy whose address is https:// gets its password only once its certificate is accepted."""
    authority = Authority(tmp_path)
    with serve() as server:
        async with open_proxy(server.url, authority.certify("127.0.0.1")) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"https://me:{PASSWORD}@{proxy.host}")
            if is_known:
                assert (await ask("http://agent.test", ca_bundle=authority.bundle)).reply == "Hello."
            else:
                failure = await fail_among_others("http://agent.test")
                assert "the TLS certificate was not accepted" in failure.error.happened
    assert len(proxy.asked) == is_known
