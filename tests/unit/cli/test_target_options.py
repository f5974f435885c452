"""The options that name a deployment, parsed into `TargetOptions`."""

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
    """Without options, parsing returns defaults and does not read the environment, which may not be needed."""
    monkeypatch.setenv("REMOTE_EVALS_URL", "nonsense")
    parsed = DeploymentOptions().parse()
    assert (parsed.url, parsed.token, parsed.headers, parsed.reads_environment) == (None, None, {}, True)


def test_what_is_given_is_said() -> None:
    """The URL loses its last slash, headers are split, and the rest is passed unchanged."""
    given = DeploymentOptions(
        url=f"{URL}/",
        headers=["X-Team=blue", "X-Build: 2"],
        secret_headers=["x-team"],
        ca_bundle=Path("own.pem"),
        insecure=True,
        insecure_http=True,
    )
    parsed = given.parse()
    assert (parsed.url, parsed.headers) == (URL, {"X-Team": "blue", "X-Build": "2"})
    assert (parsed.secret_headers, parsed.ca_bundle) == (("x-team",), Path("own.pem"))
    assert (parsed.insecure, parsed.insecure_http) == (True, True)


def test_the_three_ways_to_give_a_token(tmp_path: Path) -> None:
    """A token given directly or in a file is read at once; a variable is only named."""
    (tmp_path / "token").write_text(f"{TOKEN}\n", "utf-8")
    for given in (DeploymentOptions(token=TOKEN), DeploymentOptions(token_file=tmp_path / "token")):
        token = given.parse().token
        assert isinstance(token, Secret)
        assert token.reveal() == TOKEN
    assert DeploymentOptions(token_env="NOT_SET").parse().token == TokenVariable("NOT_SET", "--token-env")


@pytest.mark.parametrize(
    ("given", "message"),
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
def test_what_contradicts_itself_is_refused(given: DeploymentOptions, message: str) -> None:
    """Contradictory and empty options are reported by name, without the token."""
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        given.parse()
    assert TOKEN not in str(caught.value)


def test_no_traceback_shows_the_token() -> None:
    """The repr of options, which tracebacks with locals print, shows no credential."""
    given = DeploymentOptions(token=TOKEN, url=f"{URL}?api_key={TOKEN}", headers=[f"X-Api-Key={TOKEN}"])
    assert TOKEN not in f"{given!r} {DeploymentOptions(token=TOKEN).parse()!r}"
