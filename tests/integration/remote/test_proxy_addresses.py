"""The address of a proxy: which can be used, what of it is secret, and that a wrong one is refused and never shown."""

import base64

import pytest

from remote_evals import Eval, EvalRunner, RemoteTarget, UsageError, includes
from remote_evals.evals.context import EvalContext
from remote_evals.redaction import REDACTED, Redactor
from remote_evals.transport.connecting import find_proxy
from tests.serving.deployments import PATIENT, serve
from tests.serving.leaks import PROXY_PASSWORD as PASSWORD
from tests.serving.leaks import assert_error_keeps_secrets, ways_to_report
from tests.serving.proxy import forget_proxies, open_proxy

URL = "http://agent.test"
# Some are what people type who do not encode a password, and some would be another host than they seem to be.
WRONG = {
    "slash": "http://user:pa55/word77@127.0.0.1:3128",
    "slash behind a port": "http://user:18121/word77@127.0.0.1:3128",
    "number sign": "http://user:pa55#word77@127.0.0.1:3128",
    "number sign behind a port": "http://user:18121#word77@127.0.0.1:3128",
    "question mark": "http://user:pa55?word77@127.0.0.1:3128",
    "question mark behind a port": "http://user:18121?word77@127.0.0.1:3128",
    "another host": "http://localhost:18121/word77@real.proxy.test:3128",
    "path": "http://127.0.0.1:3128/word77",
    "query": "http://127.0.0.1:3128?word77",
    "fragment": "http://127.0.0.1:3128/#word77",
    "port": "http://127.0.0.1:word77",
    "large port": "http://127.0.0.1:99999",
    "port 0": "http://user:word77@127.0.0.1:0",
    "no host": "http://user:word77@:3128",
    "only a scheme": "http://",
    "bracket": "http://user:word77@[::1",
    "space in the host": "http://user:word77@proxy test:3128",
    "not UTF-8": "http://user:word77\udcff@127.0.0.1:3128",
    "no scheme": "user:pa55/word77@127.0.0.1:3128",
}


@pytest.fixture(autouse=True)
def _no_proxy_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


def refusal_of(address: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return how a proxy is refused; asserts that no way to show the error shows the address."""
    monkeypatch.setenv(variable, address.replace("word77", PASSWORD))
    with pytest.raises(UsageError) as caught:
        find_proxy(URL)
    assert_error_keeps_secrets(caught.value)
    assert not any(part in repr(caught.value) for part in ("pa55", "18121", "127.0.0.1", "proxy.test"))
    return str(caught.value)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_address_is_refused(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no address names its variable, and says how to write it, before anything is sent anywhere."""
    message = refusal_of(WRONG[name], variable, monkeypatch)
    assert message.startswith(f"{variable} is not the address of a proxy; write it as http://host:port or ")
    assert "percent-encode the password" in message


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks4", "ftp"])
def test_another_kind_of_proxy_is_refused(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that is no HTTP proxy is told as such."""
    message = refusal_of(f"{scheme}://me:word77@127.0.0.1:1", "ALL_PROXY", monkeypatch)
    assert message.startswith("ALL_PROXY is not an http:// or https:// address; another kind of proxy")


@pytest.mark.parametrize(
    "address", ["127.0.0.1:3128", "http://proxy.test", "https://me:a%2Fb@proxy.test:1/", "http://[::1]:8"]
)
def test_other_addresses_are_taken(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a scheme, a password, a port and a slash at the end, an address can be used."""
    monkeypatch.setenv("HTTP_PROXY", address)
    proxy = find_proxy(URL)
    assert proxy
    assert str(proxy.build().url).rstrip("/") == address.replace("me:a%2Fb@", "").rstrip("/").replace(
        "127", "http://127"
    )


PAIRS = {
    "password": ("me", "pa55/word77", {"pa55/word77", "pa55%2Fword77"}),
    "short password": ("user", "ci", set()),
    "user who is the key": ("pr0xy-k3y-77", "", {"pr0xy-k3y-77"}),
    "user with a password": ("pr0xy-user-77", "pa55/word77", {"pa55/word77"}),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_of_an_address_is_secret(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password is, from 8 characters on, what is sent of it always, and a user where there is no password."""
    user, password, secrets = PAIRS[name]
    encoded = password.replace("/", "%2F")
    monkeypatch.setenv(
        "HTTP_PROXY", f"http://{user}:{encoded}@127.0.0.1:1" if password else f"http://{user}@127.0.0.1:1"
    )
    proxy, redactor = find_proxy(URL), Redactor()
    assert proxy
    proxy.hide_from(redactor)
    for secret in (*secrets, base64.b64encode(f"{user}:{password}".encode()).decode()):
        assert redactor.scrub(f"sent {secret}.") == f"sent {REDACTED}."
    innocent = "the client was accepted, said me and user, pr0xy-user-77"
    assert redactor.scrub(innocent) == innocent


async def test_a_short_password_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case passes and is reported as ever behind a proxy whose password is a part of other words."""

    async def check(t: EvalContext) -> None:
        t.check("reply", (await t.send("hi")).reply, includes("passed"))

    with serve({"text": "The decision passed as expected."}) as server:
        for password in ("ci", "e", "passed"):
            async with open_proxy(server.url) as proxy:
                monkeypatch.setenv("HTTP_PROXY", f"http://u:{password}@{proxy.host}")
                report = await EvalRunner(RemoteTarget(URL, limits=PATIENT)).arun(Eval("passed", check))
            assert [(row.name, row.status) for row in report.results] == [("passed", "passed")]
            assert report.results[0].run.reply == "The decision passed as expected."
            assert not any(REDACTED in text for _, text in ways_to_report(report))
