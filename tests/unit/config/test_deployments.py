"""How options and a suite's settings make a target."""

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
def _no_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("REMOTE_EVALS_TOKEN", "REMOTE_EVALS_URL"):
        monkeypatch.delenv(variable, raising=False)


def build(options: TargetOptions | None = None, redactor: Redactor | None = None, **settings: Any) -> RemoteTarget:
    target = target_builder(options, redactor)(TargetSettings(**{"url": URL, **settings}))
    assert target
    return target


def revealed(options: TargetOptions) -> str | None:
    token = find_token(options)
    return token.reveal() if token else None


def test_a_suite_without_a_url_has_no_target() -> None:
    """Where neither options nor suite say where the deployment is, there is no target."""
    assert target_builder()(TargetSettings()) is None


def test_what_the_options_say_reaches_the_target() -> None:
    """Limits, retries and whether certificates are verified are the target's."""
    limits = Limits(connect_s=1)
    target = build(TargetOptions(limits=limits, retries=5, insecure=True))
    assert (target.url, target.limits, target.retries, target.tls.insecure) == (URL, limits, 5, True)
    target = build()
    assert (target.limits, target.retries, target.tls.insecure) == (Limits(), 2, False)


def test_the_environment_says_what_the_options_leave_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """REMOTE_EVALS_URL stands in for a URL, and a variable that is named gives the token; REMOTE_EVALS_TOKEN waits."""
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
    assert revealed(resolved) == KEY


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("REMOTE_EVALS_URL", " ", "REMOTE_EVALS_URL is empty; is a variable not set?"),
        ("REMOTE_EVALS_URL", "agent.test", "REMOTE_EVALS_URL: 'agent.test' is not a URL of a deployment"),
        ("MINE", " ", "the variable MINE, named by --token-env, is not set or empty"),
    ],
)
def test_a_variable_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    """A variable is told with its name, and where that was named; whoever reads no variable is not bothered."""
    monkeypatch.setenv(name, value)
    options = TargetOptions(token=TokenVariable("MINE", "--token-env") if name == "MINE" else None)
    with pytest.raises(UsageError, match=re.escape(told)):
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
    """The suite's variable comes before REMOTE_EVALS_TOKEN, which stands in for one that is not there."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    suite = TargetSettings(url=URL, token_env=token_env)
    assert revealed(TargetOptions().over(suite, "the suite's token_env")) == token
    # Options come before both, and who reads no variable has no other token.
    assert revealed(TargetOptions(token=Secret(KEY)).over(suite, "the suite's token_env")) == KEY
    assert revealed(TargetOptions(reads_environment=False).over(suite, "the suite's token_env")) is None


@pytest.mark.parametrize("variables", [{}, {"SUITES": ""}, {"SUITES": "", "REMOTE_EVALS_TOKEN": "last-token-1"}])
def test_a_suites_variable_without_a_token_is_told(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    """A variable that holds nothing is told with who named it, and nothing stands in for an empty one."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="the variable SUITES, named by the suite's token_env, is not set or empty"):
        build(token_env="SUITES")


def test_suites_of_one_deployment_share_a_target() -> None:
    """The same settings give the same target, others another one."""
    target_for = target_builder(TargetOptions(headers={"X-Tenant": KEY}))
    first = target_for(TargetSettings(url=URL))
    assert target_for(TargetSettings(url=URL)) is first
    assert target_for(TargetSettings(url=URL, headers={"X-Tenant": "overridden"})) is first
    assert target_for(TargetSettings(url=URL, secret_headers=("X-Tenant",))) is not first
    assert target_for(TargetSettings(url=f"{URL}/2")) is not first


@pytest.mark.parametrize("by", ["options", "suite", "both"])
def test_secret_headers_come_from_options_and_suite(by: str) -> None:
    """A header is secret whoever names it, and wherever its value comes from."""
    redactor = Redactor()
    named = ("x-tenant",)
    options = TargetOptions(headers={"X-Tenant": KEY} if by != "suite" else {}, secret_headers=named * (by != "suite"))
    settings = {"headers": {"X-Tenant": KEY}, "secret_headers": named} if by != "options" else {}
    build(options, redactor, **settings)
    assert redactor.scrub(f"you sent {KEY}") == f"you sent {REDACTED}"


MISTAKES: dict[str, tuple[TargetOptions, dict[str, Any], str]] = {
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
    "retries": (TargetOptions(retries=-1), {}, f"the target {URL}: retries is -1; it is a number of times"),
    "bundle": (TargetOptions(ca_bundle=Path("/no/such.pem")), {}, "the CA bundle /no/such.pem cannot be read"),
    "plain http": (TargetOptions(url="http://agent.test", token=Secret("right-token-1")), {}, "is plain http"),
    "two tokens": (
        TargetOptions(headers={"Authorization": f"Bearer {KEY}"}, token=Secret("right-token-1")),
        {},
        "a token was given and the header Authorization too",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_cannot_be_used_is_a_usage_error(name: str) -> None:
    """Whatever a target refuses is a usage error that names the target, and holds no secret."""
    options, settings, text = MISTAKES[name]
    with pytest.raises(UsageError) as caught:
        build(options, **settings)
    assert text in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_nothing_public_shows_a_secret() -> None:
    """Options and settings can be printed: neither headers nor token nor the URL's query are shown."""
    settings = TargetSettings(url=f"{URL}?api_key={KEY}", headers={"X-Api-Key": KEY})
    options = TargetOptions(url=settings.url, token=Secret(KEY), headers=settings.headers)
    shown = f"{settings!r} {settings} {options!r} {options}"
    assert "s3cr3t" not in shown
    assert URL in shown
