"""Options override the environment that `--env` names, which overrides the other settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from remote_evals import Secret, TargetOptions
from remote_evals.cli.run_setup import CommandSettings
from remote_evals.config.deployments import TokenVariable
from remote_evals.config.settings import EnvironmentSettings, Settings
from remote_evals.running.workers import Readiness


def make_settings(environment: Mapping[str, Any] | None = None, **settings: Any) -> CommandSettings:
    known = EnvironmentSettings.model_validate({"url": "https://live", **environment}) if environment else None
    return CommandSettings(Settings.model_validate(settings), known)


@pytest.mark.parametrize(
    ("given", "setting", "limit_s"), [(None, None, 0.0), (None, "5m", 300.0), (30.0, "5m", 30.0), (0.0, "5m", 0.0)]
)
def test_the_limit_of_the_whole_run(given: float | None, setting: str | None, limit_s: float) -> None:
    """The option overrides the setting, even with 0 for no limit; without both there is no limit."""
    assert make_settings(max_time=setting).choose_max_time_s(given) == limit_s


@pytest.mark.parametrize(("given", "setting", "retries"), [(None, None, 2), (None, 0, 0), (0, 5, 0), (3, 0, 3)])
def test_the_number_of_retries(given: int | None, setting: int | None, retries: int) -> None:
    """The option overrides the setting, even with 0, and the setting overrides the default."""
    assert make_settings(retries=setting).choose_retries(given) == retries


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
    """A wait or an expected header makes the run wait, for 60 s by default; options override, even with 0."""
    assert make_settings(environment).choose_readiness(wait, headers) == readiness


def test_how_the_deployment_of_an_environment_is_reached() -> None:
    """The option's CA bundle overrides that of the environment; secret header names are combined."""
    environment = {"ca_bundle": "own.pem", "insecure_http": True, "secret_headers": ["A"], "headers": {"A": "1"}}
    settings = make_settings(environment)
    plain = settings.complete_target(TargetOptions())
    assert (plain.url, plain.ca_bundle, plain.insecure_http) == ("https://live", Path("own.pem"), True)
    given = settings.complete_target(TargetOptions(secret_headers=("B",), ca_bundle=Path("other.pem")))
    assert (given.secret_headers, given.ca_bundle) == (("A", "B"), Path("other.pem"))
    assert not make_settings({"tags": "a"}).complete_target(TargetOptions()).insecure_http


def test_the_token_of_an_environment_is_not_read_yet() -> None:
    """An environment's token variable need not be set yet, and a token from an option overrides it."""
    settings, given = make_settings({"token_env": "NOT_SET"}), Secret("right-token-1")
    assert settings.complete_target(TargetOptions()).token == TokenVariable("NOT_SET", "the environment's token_env")
    assert settings.complete_target(TargetOptions(token=given)).token is given
