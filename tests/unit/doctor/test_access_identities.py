"""The identities that `doctor` sends requests with, and the credentials of each."""

from pathlib import Path

import pytest

from remote_evals import UsageError
from remote_evals.config.deployments import TOKEN_VARIABLE, TargetOptions
from remote_evals.doctor import make_identities
from remote_evals.redaction import Redactor, Secret

URL = "https://agent.test/support"
TOKEN = Secret("t0ken-of-the-caller")


@pytest.fixture(autouse=True)
def _no_token_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)


def test_without_a_url_there_is_nothing_to_look_at() -> None:
    """Without a URL, the message names every way to give one."""
    with pytest.raises(UsageError, match="--url URL, --env NAME or REMOTE_EVALS_URL"):
        make_identities(TargetOptions(), Redactor())


def test_without_credentials_there_is_one_caller() -> None:
    """Without credentials, there is no identity that should be refused."""
    identities = make_identities(TargetOptions(URL, headers={"X-Team": "blue"}), Redactor())
    assert (identities.no_token, identities.wrong_token) == (None, None)


def test_one_caller_has_the_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """REMOTE_EVALS_TOKEN is the default token, and the other identities do not use it."""
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN.reveal())
    redactor = Redactor()
    identities = make_identities(TargetOptions(URL), redactor)
    assert identities.no_token is not None
    assert identities.wrong_token is not None
    assert redactor.scrub(TOKEN.reveal()) == "[redacted]"


def test_a_fake_server_gets_no_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake server is not sent the environment's token."""
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN.reveal())
    assert make_identities(TargetOptions(URL, reads_environment=False), Redactor()).no_token is None


@pytest.mark.parametrize(
    "options",
    [
        TargetOptions(URL, headers={"X-Api-Key": "k3y-of-the-caller"}),
        TargetOptions(URL, headers={"X-Team": "blue-and-secret"}, secret_headers=("x-team",)),
        TargetOptions(f"{URL}?api_key=k3y-of-the-caller&v=2"),
    ],
    ids=["header", "secret header", "query"],
)
def test_no_token_means_no_credential_of_any_kind(options: TargetOptions) -> None:
    """`no_token` also lacks headers and parameters that hold a credential; `wrong_token` needs a token."""
    identities = make_identities(options, Redactor())
    assert identities.no_token is not None
    assert identities.wrong_token is None
    assert "api_key" not in identities.no_token.url
    assert ("v=2" in identities.no_token.url) == ("v=2" in identities.as_given.url)


def test_nothing_is_sent_again() -> None:
    """No identity resends a request, even if the options allow retries."""
    identities = make_identities(TargetOptions(URL, TOKEN, retries=5), Redactor())
    assert identities.no_token is not None
    assert identities.wrong_token is not None
    assert {target.retries for target in (identities.as_given, identities.no_token, identities.wrong_token)} == {0}


def test_a_bundle_that_is_missing_is_a_usage_error() -> None:
    """A CA bundle that cannot be read is reported before anything is sent."""
    with pytest.raises(UsageError, match="cannot be read"):
        make_identities(TargetOptions(URL, ca_bundle=Path("no-such.pem")), Redactor())
