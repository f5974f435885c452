"""Who asks in a check-up, and what each of them has in hand."""

from pathlib import Path

import pytest

from remote_evals import UsageError
from remote_evals.deployments import TOKEN_VARIABLE, TargetOptions
from remote_evals.doctor import make_callers
from remote_evals.redaction import Redactor, Secret

URL = "https://agent.test/support"
TOKEN = Secret("t0ken-of-the-owner")


@pytest.fixture(autouse=True)
def _no_token_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)


def test_without_a_url_there_is_nothing_to_look_at() -> None:
    """The message names every way to give one."""
    with pytest.raises(UsageError, match="--url URL, --env NAME or REMOTE_EVALS_URL"):
        make_callers(TargetOptions(), Redactor())


def test_an_owner_without_credentials_is_a_stranger() -> None:
    """Where nothing was given there is nobody else to send."""
    callers = make_callers(TargetOptions(URL, headers={"X-Team": "blue"}), Redactor())
    assert (callers.stranger, callers.impostor) == (None, None)


def test_the_token_of_the_environment_is_the_owner_s_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """REMOTE_EVALS_TOKEN is the last resort of the owner, and no one else's."""
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN.reveal())
    redactor = Redactor()
    callers = make_callers(TargetOptions(URL), redactor)
    assert callers.stranger is not None
    assert callers.impostor is not None
    assert redactor.scrub(TOKEN.reveal()) == "[redacted]"


def test_a_fake_server_gets_no_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's token is not meant for it."""
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN.reveal())
    assert make_callers(TargetOptions(URL, is_fake=True), Redactor()).stranger is None


@pytest.mark.parametrize(
    "options",
    [
        TargetOptions(URL, headers={"X-Api-Key": "k3y-of-the-owner"}),
        TargetOptions(URL, headers={"X-Team": "blue-and-secret"}, secret_headers=("x-team",)),
        TargetOptions(f"{URL}?api_key=k3y-of-the-owner&v=2"),
    ],
    ids=["header", "secret header", "query"],
)
def test_a_stranger_has_no_credential_of_any_kind(options: TargetOptions) -> None:
    """Headers and parameters that hold a credential are left out as the token is, and no token means no wrong one."""
    callers = make_callers(options, Redactor())
    assert callers.stranger is not None
    assert callers.impostor is None
    assert "api_key" not in callers.stranger.url
    assert ("v=2" in callers.stranger.url) == ("v=2" in callers.owner.url)


def test_nothing_is_sent_again() -> None:
    """However often a run would send a turn again, a check-up does not."""
    callers = make_callers(TargetOptions(URL, TOKEN, retries=5), Redactor())
    assert callers.stranger is not None
    assert callers.impostor is not None
    assert {target.retries for target in (callers.owner, callers.stranger, callers.impostor)} == {0}


def test_a_bundle_that_is_missing_is_a_usage_error() -> None:
    """Mistakes in the options are told before anything is sent."""
    with pytest.raises(UsageError, match="cannot be read"):
        make_callers(TargetOptions(URL, ca_bundle=Path("no-such.pem")), Redactor())
