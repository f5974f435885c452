"""Who asks in a check-up, and what each of them has in hand."""

from pathlib import Path

import pytest

from remote_evals import UsageError
from remote_evals.config.deployments import TOKEN_VARIABLE, TargetOptions
from remote_evals.doctor import make_callers
from remote_evals.redaction import Redactor, Secret

URL = "https://agent.test/support"
TOKEN = Secret("t0ken-of-the-caller")


@pytest.fixture(autouse=True)
def _no_token_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)


def test_without_a_url_there_is_nothing_to_look_at() -> None:
    """The message names every way to give one."""
    with pytest.raises(UsageError, match="--url URL, --env NAME or REMOTE_EVALS_URL"):
        make_callers(TargetOptions(), Redactor())


def test_without_credentials_there_is_one_caller() -> None:
    """Where nothing was given there is nobody else to send."""
    callers = make_callers(TargetOptions(URL, headers={"X-Team": "blue"}), Redactor())
    assert (callers.no_token, callers.wrong_token) == (None, None)


def test_one_caller_has_the_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """REMOTE_EVALS_TOKEN is the token where none was given, and the callers that should be refused do not find it."""
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN.reveal())
    redactor = Redactor()
    callers = make_callers(TargetOptions(URL), redactor)
    assert callers.no_token is not None
    assert callers.wrong_token is not None
    assert redactor.scrub(TOKEN.reveal()) == "[redacted]"


def test_a_fake_server_gets_no_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's token is not meant for it."""
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN.reveal())
    assert make_callers(TargetOptions(URL, reads_environment=False), Redactor()).no_token is None


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
    """Headers and parameters that hold a credential are left out as the token is, and no token means no wrong one."""
    callers = make_callers(options, Redactor())
    assert callers.no_token is not None
    assert callers.wrong_token is None
    assert "api_key" not in callers.no_token.url
    assert ("v=2" in callers.no_token.url) == ("v=2" in callers.as_given.url)


def test_nothing_is_sent_again() -> None:
    """However often a run would send a turn again, a check-up does not."""
    callers = make_callers(TargetOptions(URL, TOKEN, retries=5), Redactor())
    assert callers.no_token is not None
    assert callers.wrong_token is not None
    assert {target.retries for target in (callers.as_given, callers.no_token, callers.wrong_token)} == {0}


def test_a_bundle_that_is_missing_is_a_usage_error() -> None:
    """Mistakes in the options are told before anything is sent."""
    with pytest.raises(UsageError, match="cannot be read"):
        make_callers(TargetOptions(URL, ca_bundle=Path("no-such.pem")), Redactor())
