"""Deployments behind a proxy that nobody here wrote, plain and by TLS, with and without a password."""

from collections.abc import Iterator

import pytest

from remote_evals import JudgeError, LLMJudge, RemoteStatusError, RemoteTarget, RemoteUnreachableError
from tests.serving.certificates import Authority
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, fail_among_others, listen, serve
from tests.serving.leaks import PROXY_PASSWORD as PASSWORD
from tests.serving.leaks import TOKEN, assert_error_keeps_secrets, assert_no_leak
from tests.serving.proxy import NOT_LOOPBACK, forget_proxies, run_proxy


@pytest.fixture(scope="module")
def open_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_proxy(tmp_path_factory.mktemp("proxy")) as host:
        yield host


@pytest.fixture(scope="module")
def closed_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_proxy(tmp_path_factory.mktemp("proxy"), "--basic-auth", f"me:{PASSWORD}") as host:
        yield host


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def _no_proxy_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


async def reply_of(target: RemoteTarget) -> str:
    async with target, target.open_session() as session:
        return (await session.send("hi", 1)).reply


def behind_a_proxy(host: str) -> str:
    return host.replace("127.0.0.1", NOT_LOOPBACK)


async def test_plain_http_through_a_proxy(open_proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment that only a proxy can reach is asked through it, and its stream comes whole."""
    monkeypatch.setenv("HTTP_PROXY", f"http://{open_proxy}")
    with serve({"text": "Hello {{authorization}}."}, token=TOKEN) as server:
        url = behind_a_proxy(server.url)
        assert (
            await reply_of(RemoteTarget(url, TOKEN, insecure_http=True, limits=PATIENT)) == "Hello Bearer [redacted]."
        )


async def test_tls_through_a_tunnel(open_proxy: str, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a CONNECT the deployment's own certificate is verified, and the token needs no permission."""
    monkeypatch.setenv("HTTPS_PROXY", f"http://{open_proxy}")
    sent: list[str | None] = []

    async def answer(connection: Connection) -> None:
        sent.append(connection.header("authorization"))
        await connection.send(WHOLE_RUN)

    async with listen(answer, tls=authority.certify(NOT_LOOPBACK)) as host:
        url = f"https://{behind_a_proxy(host)}"
        assert await reply_of(RemoteTarget(url, TOKEN, ca_bundle=authority.bundle, limits=PATIENT)) == "Hello."
        failure = await fail_among_others(url, token=TOKEN)
    assert sent == [f"Bearer {TOKEN}"]
    assert "the TLS certificate was not accepted (unable to get local issuer" in failure.error.happened


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_with_a_password(
    scheme: str, closed_proxy: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """User and password in the proxy's address open it, for plain requests and for tunnels."""
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", f"http://me:{PASSWORD}@{closed_proxy}")
    asked: list[Connection] = []

    async def answer(connection: Connection) -> None:
        asked.append(connection)
        await connection.send(WHOLE_RUN)

    async with listen(answer, tls=authority.certify(NOT_LOOPBACK) if scheme == "https" else None) as host:
        target = RemoteTarget(f"{scheme}://{behind_a_proxy(host)}", ca_bundle=authority.bundle, limits=PATIENT)
        assert await reply_of(target) == "Hello."
    assert [connection.header("proxy-authorization") for connection in asked] == [None]


@pytest.mark.parametrize("user", ["", f"me:x{PASSWORD}@"], ids=["none", "wrong"])
async def test_a_proxy_that_refuses_the_password(user: str, closed_proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A 407 is told as the proxy's where a tunnel is refused, by its status elsewhere, and shows no password."""
    for variable in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, f"http://{user}{closed_proxy}")
    plain = await fail_among_others("http://agent.test")
    tunnel = await fail_among_others("https://agent.test", token=TOKEN)
    assert type(plain.error) is RemoteStatusError
    assert plain.error.status == 407
    assert type(tunnel.error) is RemoteUnreachableError
    assert tunnel.error.happened == "the proxy answered 407"
    for failure in (plain, tunnel):
        assert_no_leak([("report", repr(failure.report))])
        assert_error_keeps_secrets(failure.error)


async def test_a_deployment_that_the_proxy_cannot_reach(open_proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that the proxy does not find is told by the proxy's answer: the deployment was never asked."""
    monkeypatch.setenv("HTTPS_PROXY", f"http://{open_proxy}")
    failure = await fail_among_others("https://agent.invalid", token=TOKEN)
    assert type(failure.error) is RemoteUnreachableError
    assert failure.error.happened == "the proxy answered 502"
    assert "HTTPS_PROXY" in failure.error.advice


async def test_a_judge_behind_a_proxy_that_refuses(closed_proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that a proxy keeps away is told without the proxy's password, and without the judge's key."""
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:x{PASSWORD}@{closed_proxy}")
    with pytest.raises(JudgeError) as caught:
        await LLMJudge("https://judge.test", "m", api_key=TOKEN).grade(rubric="Is polite.", request="hi", reply="Hello")
    assert "the proxy answered 407" in caught.value.happened
    assert_error_keeps_secrets(caught.value)
