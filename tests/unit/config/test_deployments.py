"""How options, a suite and environment variables give a target its URL, headers and token."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remote_evals import (
    Limits,
    Redactor,
    RemoteTarget,
    Secret,
    TargetOptions,
    TargetSettings,
    UsageError,
    target_builder,
)
from remote_evals.config.deployments import TokenVariable, find_token, resolve
from remote_evals.redaction import REDACTED

URL = "https://agent.test/support"
KEY = "s3cr3t-k3y-1"


@pytest.fixture(autouse=True)
def _without_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("REMOTE_EVALS_TOKEN", "REMOTE_EVALS_URL"):
        monkeypatch.delenv(variable, raising=False)


def build(options: TargetOptions | None = None, redactor: Redactor | None = None, **settings: Any) -> RemoteTarget:
    target = target_builder(options, redactor)(TargetSettings(**{"url": URL, **settings}))
    assert target
    return target


def reveal_token(options: TargetOptions) -> str | None:
    token = find_token(options)
    return token.reveal() if token else None


def test_a_suite_without_a_url_has_no_target() -> None:
    """Without a URL in the options or the suite there is no target."""
    assert target_builder()(TargetSettings()) is None


def test_the_options_reach_the_target() -> None:
    """The target gets the limits, the retries and `insecure` of the options, or the defaults."""
    limits = Limits(connect_s=1)
    target = build(TargetOptions(limits=limits, retries=5, insecure=True))
    assert (target.url, target.limits, target.retries, target.tls.insecure) == (URL, limits, 5, True)
    target = build()
    assert (target.limits, target.retries, target.tls.insecure) == (Limits(), 2, False)


def test_the_environment_completes_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """`resolve` reads REMOTE_EVALS_URL if no URL is given, and the named token variable, but not REMOTE_EVALS_TOKEN."""
    for name, value in {
        "REMOTE_EVALS_URL": f"{URL}/",
        "REMOTE_EVALS_TOKEN": "last-token-1",
        "MINE": f" {KEY}\n",
    }.items():
        monkeypatch.setenv(name, value)
    resolved = resolve(TargetOptions())
    assert (resolved.url, resolved.token) == (URL, None)
    resolved = resolve(TargetOptions("https://given.test", TokenVariable("MINE", "--token-env")))
    assert resolved.url == "https://given.test"
    assert reveal_token(resolved) == KEY


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("REMOTE_EVALS_URL", " ", "REMOTE_EVALS_URL is empty; is a variable not set?"),
        ("REMOTE_EVALS_URL", "agent.test", "REMOTE_EVALS_URL: 'agent.test' is not a URL of a deployment"),
        ("MINE", " ", "the variable MINE, named by --token-env, is not set or empty"),
    ],
)
def test_an_unusable_variable_is_reported(monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str) -> None:
    """The message names the variable and what named it; without `reads_environment` no variable is read."""
    monkeypatch.setenv(name, value)
    options = TargetOptions(token=TokenVariable("MINE", "--token-env") if name == "MINE" else None)
    with pytest.raises(UsageError, match=re.escape(message)):
        resolve(options)
    assert resolve(replace(options, reads_environment=False)).url is None


@pytest.mark.parametrize(
    ("variables", "token_env", "token"),
    [
        ({"SUITES": "suites-token-1", "REMOTE_EVALS_TOKEN": "last-token-1"}, "SUITES", "suites-token-1"),
        ({"REMOTE_EVALS_TOKEN": "last-token-1"}, "SUITES", "last-token-1"),
        ({"REMOTE_EVALS_TOKEN": "last-token-1"}, None, "last-token-1"),
        ({"REMOTE_EVALS_TOKEN": ""}, None, None),
    ],
)
def test_where_the_token_of_a_suite_comes_from(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], token_env: str | None, token: str | None
) -> None:
    """The suite's variable overrides REMOTE_EVALS_TOKEN, which is used if that variable does not exist."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    suite = TargetSettings(url=URL, token_env=token_env)
    assert reveal_token(TargetOptions().over(suite, "the suite's token_env")) == token
    # A token in the options overrides both, and without `reads_environment` there is no other.
    assert reveal_token(TargetOptions(token=Secret(KEY)).over(suite, "the suite's token_env")) == KEY
    assert reveal_token(TargetOptions(reads_environment=False).over(suite, "the suite's token_env")) is None


@pytest.mark.parametrize("variables", [{}, {"SUITES": ""}, {"SUITES": "", "REMOTE_EVALS_TOKEN": "last-token-1"}])
def test_a_suites_variable_without_a_token_is_reported(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    """An empty variable is reported with what named it, even if REMOTE_EVALS_TOKEN is set."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="the variable SUITES, named by the suite's token_env, is not set or empty"):
        build(token_env="SUITES")


def test_suites_of_one_deployment_share_a_target() -> None:
    """Equal settings give the same target, and different settings give different targets."""
    target_for = target_builder(TargetOptions(headers={"X-Tenant": KEY}))
    first = target_for(TargetSettings(url=URL))
    assert target_for(TargetSettings(url=URL)) is first
    assert target_for(TargetSettings(url=URL, headers={"X-Tenant": "overridden"})) is first
    assert target_for(TargetSettings(url=URL, secret_headers=("X-Tenant",))) is not first
    assert target_for(TargetSettings(url=f"{URL}/2")) is not first


@pytest.mark.parametrize("by", ["options", "suite", "both"])
def test_secret_headers_come_from_options_and_suite(by: str) -> None:
    """A header is secret if the options or the suite name it, and wherever its value comes from."""
    redactor = Redactor()
    named = ("x-tenant",)
    options = TargetOptions(headers={"X-Tenant": KEY} if by != "suite" else {}, secret_headers=named * (by != "suite"))
    settings = {"headers": {"X-Tenant": KEY}, "secret_headers": named} if by != "options" else {}
    build(options, redactor, **settings)
    assert redactor.scrub(f"you sent {KEY}") == f"you sent {REDACTED}"


PROBLEMS: dict[str, tuple[TargetOptions, dict[str, Any], str]] = {
    "no such header": (
        TargetOptions(headers={"X-Tenant": KEY}, secret_headers=("X-Tennant",)),
        {},
        f"the target {URL}: the secret header 'X-Tennant' is not among the headers; did you mean 'X-Tenant'?",
    ),
    "no such header in the suite": (TargetOptions(), {"secret_headers": "X-Tenant"}, "valid are none"),
    "short": (
        TargetOptions(headers={"X-Tenant": "s3cr3t"}, secret_headers=("X-Tenant",)),
        {},
        f"the target {URL}: the value of the secret header X-Tenant cannot be hidden: it has only 6 character(s)",
    ),
    "retries": (TargetOptions(retries=-1), {}, f"the target {URL}: retries is -1; it must be 0 or more"),
    "bundle": (TargetOptions(ca_bundle=Path("/no/such.pem")), {}, "the CA bundle /no/such.pem cannot be read"),
    "plain http": (TargetOptions(url="http://agent.test", token=Secret("right-token-1")), {}, "is plain http"),
    "two tokens": (
        TargetOptions(headers={"Authorization": f"Bearer {KEY}"}, token=Secret("right-token-1")),
        {},
        "a token was given and the header Authorization too",
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_cannot_be_used_is_a_usage_error(name: str) -> None:
    """What a target refuses is a usage error that names the target and holds no secret."""
    options, settings, message = PROBLEMS[name]
    with pytest.raises(UsageError) as caught:
        build(options, **settings)
    assert message in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_nothing_public_shows_a_secret() -> None:
    """The text and repr of options and settings show no header, no token and no query of the URL."""
    settings = TargetSettings(url=f"{URL}?api_key={KEY}", headers={"X-Api-Key": KEY})
    options = TargetOptions(url=settings.url, token=Secret(KEY), headers=settings.headers)
    shown = f"{settings!r} {settings} {options!r} {options}"
    assert "s3cr3t" not in shown
    assert URL in shown
