"""The options that name a deployment, as the command line gives them."""

import re
from pathlib import Path

import pytest

from remote_evals import UsageError
from remote_evals.cli.target_options import DeploymentOptions
from remote_evals.config.deployments import TokenVariable
from remote_evals.redaction import Secret

TOKEN = "s3cr3t-token-1"
URL = "https://agent.test/support"


def test_nothing_given_is_nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment holds is not looked at: it may not be needed."""
    monkeypatch.setenv("REMOTE_EVALS_URL", "nonsense")
    said = DeploymentOptions().parse()
    assert (said.url, said.token, said.headers, said.reads_environment) == (None, None, {}, True)


def test_what_is_given_is_said() -> None:
    """The URL is without its last slash, headers are split, and the rest is as it was given."""
    given = DeploymentOptions(
        url=f"{URL}/",
        headers=["X-Team=blue", "X-Build: 2"],
        secret_headers=["x-team"],
        ca_bundle=Path("own.pem"),
        insecure=True,
        insecure_http=True,
    )
    said = given.parse()
    assert (said.url, said.headers) == (URL, {"X-Team": "blue", "X-Build": "2"})
    assert (said.secret_headers, said.ca_bundle) == (("x-team",), Path("own.pem"))
    assert (said.insecure, said.insecure_http) == (True, True)


def test_the_three_ways_to_give_a_token(tmp_path: Path) -> None:
    """The token itself and that of a file are taken at once, and a variable is only named."""
    (tmp_path / "token").write_text(f"{TOKEN}\n", "utf-8")
    for given in (DeploymentOptions(token=TOKEN), DeploymentOptions(token_file=tmp_path / "token")):
        token = given.parse().token
        assert isinstance(token, Secret)
        assert token.reveal() == TOKEN
    assert DeploymentOptions(token_env="NOT_SET").parse().token == TokenVariable("NOT_SET", "--token-env")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (DeploymentOptions(fake=Path("f.yaml"), url=URL, token=TOKEN), "leave out --url and --token"),
        (
            DeploymentOptions(token=TOKEN, token_env="A", token_file=Path("b")),
            "--token and --token-env and --token-file",
        ),
        (DeploymentOptions(env="production", url=URL), "--env names a deployment, and so does --url or --fake"),
        (DeploymentOptions(env="production", fake=Path("f.yaml")), "--env names a deployment, and so does --url"),
        (DeploymentOptions(token=""), "--token is empty; is a variable not set?"),
        (DeploymentOptions(url=" "), "--url is empty; is a variable not set?"),
        (DeploymentOptions(headers=["X-Team: blue", TOKEN]), "--header number 2 is not a header"),
    ],
)
def test_what_contradicts_itself_is_refused(given: DeploymentOptions, told: str) -> None:
    """Options that cannot both hold, and empty ones, are told by their names, without the token."""
    with pytest.raises(UsageError, match=re.escape(told)) as caught:
        given.parse()
    assert TOKEN not in str(caught.value)


def test_no_traceback_shows_the_token() -> None:
    """Options can be printed, as tracebacks with locals do, without showing what they hold."""
    given = DeploymentOptions(token=TOKEN, url=f"{URL}?api_key={TOKEN}", headers=[f"X-Api-Key={TOKEN}"])
    assert TOKEN not in f"{given!r} {DeploymentOptions(token=TOKEN).parse()!r}"
