"""Options, the environment that is named, and the settings, put together in that order."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from remote_evals import Secret, TargetOptions
from remote_evals.cli.setup import Chosen
from remote_evals.config.deployments import TokenVariable
from remote_evals.config.settings import EnvironmentSettings, Settings
from remote_evals.running.workers import Readiness


def choose(environment: Mapping[str, Any] | None = None, **settings: Any) -> Chosen:
    known = EnvironmentSettings.model_validate({"url": "https://live", **environment}) if environment else None
    return Chosen(Settings.model_validate(settings), known)


@pytest.mark.parametrize(
    ("given", "setting", "limit_s"), [(None, None, 0.0), (None, "5m", 300.0), (30.0, "5m", 30.0), (0.0, "5m", 0.0)]
)
def test_the_limit_of_the_whole_run(given: float | None, setting: str | None, limit_s: float) -> None:
    """The option comes before the setting, also where it says none; without both there is no limit."""
    assert choose(max_time=setting).max_time_s(given) == limit_s


@pytest.mark.parametrize(("given", "setting", "retries"), [(None, None, 2), (None, 0, 0), (0, 5, 0), (3, 0, 3)])
def test_the_number_of_retries(given: int | None, setting: int | None, retries: int) -> None:
    """The option comes before the setting, 0 included, and that before the default."""
    assert choose(retries=setting).retries(given) == retries


@pytest.mark.parametrize(
    ("environment", "wait", "headers", "readiness"),
    [
        (None, None, {}, None),
        ({"tags": "a"}, None, {}, None),
        (None, 0.0, {}, Readiness(0.0)),
        (None, None, {"X-Version": "2"}, Readiness(60.0, {"X-Version": "2"})),
        ({"wait": "5s"}, None, {}, Readiness(5.0)),
        ({"wait": "5s"}, 9.0, {}, Readiness(9.0)),
        ({"expect_headers": {"A": "1", "B": "1"}}, None, {"B": "2"}, Readiness(60.0, {"A": "1", "B": "2"})),
    ],
)
def test_what_is_waited_for(
    environment: dict[str, Any] | None, wait: float | None, headers: dict[str, str], readiness: Readiness | None
) -> None:
    """A wait or an expected header is waited for, 60 s where nothing says how long; options come first, 0 too."""
    assert choose(environment).readiness(wait, headers) == readiness


def test_how_the_deployment_of_an_environment_is_reached() -> None:
    """Certificates of the option come before those of the environment; names of secret headers add up."""
    environment = {"ca_bundle": "own.pem", "insecure_http": True, "secret_headers": ["A"], "headers": {"A": "1"}}
    chosen = choose(environment)
    plain = chosen.target(TargetOptions())
    assert (plain.url, plain.ca_bundle, plain.insecure_http) == ("https://live", Path("own.pem"), True)
    given = chosen.target(TargetOptions(secret_headers=("B",), ca_bundle=Path("other.pem")))
    assert (given.secret_headers, given.ca_bundle) == (("A", "B"), Path("other.pem"))
    assert not choose({"tags": "a"}).target(TargetOptions()).insecure_http


def test_the_token_of_an_environment_is_not_read_yet() -> None:
    """An environment names the variable of its token, which need not be set, and a token of an option comes before."""
    chosen, given = choose({"token_env": "NOT_SET"}), Secret("right-token-1")
    assert chosen.target(TargetOptions()).token == TokenVariable("NOT_SET", "the environment's token_env")
    assert chosen.target(TargetOptions(token=given)).token is given
