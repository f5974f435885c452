"""Which deployment and which judge a suite uses, and with which credentials.

For the URL, options override REMOTE_EVALS_URL, which overrides the suite. For the token, options override the variable
that the suite names, which overrides REMOTE_EVALS_TOKEN. For the judge, the suite overrides REMOTE_EVALS_JUDGE_URL,
_MODEL and _API_KEY.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

from ..core.urls import parse_base_url, show_url
from ..errors import UsageError
from ..judging import Judge, LLMJudge
from ..judging.endpoint import URL_VARIABLE as JUDGE_URL_VARIABLE
from ..redaction import Redactor, Secret
from ..redaction.credentials import check_headers
from ..targets import Limits, RemoteTarget
from .fields import BaseUrl, Text, Texts
from .strict_model import StrictModel

URL_VARIABLE = "REMOTE_EVALS_URL"
TOKEN_VARIABLE = "REMOTE_EVALS_TOKEN"  # noqa: S105 - a variable's name

_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class TargetSettings(StrictModel):
    """A deployment: its base URL, the environment variable that holds its token, and the headers to send."""

    url: BaseUrl | None = None
    """The base URL of the deployment; `--url` and REMOTE_EVALS_URL override it."""
    token_env: Text | None = None
    """The name of the environment variable that holds the bearer token, never the token itself."""
    headers: Annotated[dict[str, str], AfterValidator(check_headers)] = Field(default_factory=dict, repr=False)
    """Headers to send with every request."""
    secret_headers: Texts = ()
    """The names of the headers whose values are secret; like the token, they are never shown."""


class TokenVariable(NamedTuple):
    """The environment variable that should hold a token, and the option or setting that named it."""

    name: str
    named_by: str


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """What the caller sets for the target, as `RemoteTarget` takes it; None or empty leaves it to the suite.

    `token` is the token itself or the variable that holds it. Without `reads_environment`, no environment variable
    gives another URL or token: not REMOTE_EVALS_URL, not REMOTE_EVALS_TOKEN, and none that a suite names.
    """

    url: str | None = field(default=None, repr=False)
    token: Secret | TokenVariable | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_headers: tuple[str, ...] = ()
    ca_bundle: Path | None = None
    insecure: bool = False
    insecure_http: bool = False
    limits: Limits = field(default_factory=Limits)
    retries: int = 2
    reads_environment: bool = True

    def over(self, settings: TargetSettings, named_by: str) -> "TargetOptions":
        """Return these options, completed by the settings where they set nothing; headers are combined.

        `named_by` says which setting names the variable of the token.
        """
        token = self.token
        if token is None and settings.token_env and self.reads_environment:
            token = TokenVariable(settings.token_env, named_by)
        return replace(
            self,
            url=self.url or settings.url,
            token=token,
            headers={**settings.headers, **self.headers},
            secret_headers=(*settings.secret_headers, *self.secret_headers),
        )


def resolve(options: TargetOptions) -> TargetOptions:
    """Return the options with the token read from the variable that they name, and REMOTE_EVALS_URL if they set no URL.

    REMOTE_EVALS_TOKEN is not read yet, since a suite may override it. Raises `UsageError` for a variable that is not
    set or holds no URL.
    """
    if not options.reads_environment:
        return options
    url = options.url or parse_url(os.environ.get(URL_VARIABLE) or None, URL_VARIABLE)
    token = read_token_variable(*options.token) if isinstance(options.token, TokenVariable) else options.token
    return replace(options, url=url, token=token)


def target_builder(
    options: TargetOptions | None = None, redactor: Redactor | None = None
) -> Callable[[TargetSettings], RemoteTarget | None]:
    """Return a function that makes the target of a suite, or returns None for a suite without a URL.

    The options override the suite's URL, token and headers. The suite's `token_env` is read when the target is made;
    REMOTE_EVALS_TOKEN is the last resort. Suites with the same deployment share a target. The function raises
    `UsageError` for a variable that is not set, and for what `RemoteTarget` refuses.
    """
    given, known_secrets = options or TargetOptions(), redactor or Redactor()
    made: list[tuple[TargetOptions, RemoteTarget]] = []

    def build(settings: TargetSettings) -> RemoteTarget | None:
        merged = given.over(settings, "the suite's token_env")
        if merged.url is None:
            return None
        for used, target in made:
            if used == merged:
                return target
        target = _make_target(merged, known_secrets)
        made.append((merged, target))
        return target

    return build


def _make_target(options: TargetOptions, redactor: Redactor) -> RemoteTarget:
    assert options.url  # noqa: S101 - the caller has checked it
    try:
        return RemoteTarget(
            options.url,
            token=find_token(options),
            headers=options.headers,
            secret_headers=options.secret_headers,
            ca_bundle=options.ca_bundle,
            insecure=options.insecure,
            insecure_http=options.insecure_http,
            limits=options.limits,
            retries=options.retries,
            redactor=redactor,
        )
    except ValueError as error:
        raise UsageError(f"the target {show_url(options.url)}: {error}") from None


def find_token(options: TargetOptions) -> Secret | None:
    """Return the token of the options, or None if there is none.

    REMOTE_EVALS_TOKEN is used if the options set no token, or name a variable that does not exist. Raises `UsageError`
    for a variable that is empty, or not set while there is no REMOTE_EVALS_TOKEN.
    """
    token = options.token
    if isinstance(token, Secret):
        return token
    has_default = options.reads_environment and bool(os.environ.get(TOKEN_VARIABLE))
    if token and (token.name in os.environ or not has_default):
        return read_token_variable(*token)
    return read_token_variable(TOKEN_VARIABLE, "the environment") if has_default else None


def read_token_variable(variable: str, named_by: str) -> Secret:
    """Return the token in an environment variable; `named_by` says who named the variable. Raises `UsageError`."""
    if not _VARIABLE_NAME.fullmatch(variable):
        # The value is not repeated, since it may be the token itself.
        raise UsageError(f"{named_by} takes the name of an environment variable, not the token itself")
    text = os.environ.get(variable, "").strip()
    if not text:
        # A name in lower case is not shown, since it may be the token itself.
        shown = f"the variable {variable}" if variable.isupper() else "the variable"
        raise UsageError(f"{shown}, named by {named_by}, is not set or empty; it should hold the token")
    return Secret(text)


def parse_url(given: str | None, named_by: str) -> str | None:
    """Return the base URL that an option or a variable gives, or None if it is not given. Raises `UsageError`."""
    if given is None:
        return None
    if not given.strip():
        raise UsageError(f"{named_by} is empty; is a variable not set?")
    try:
        return parse_base_url(given)
    except ValueError as error:
        raise UsageError(f"{named_by}: {error}") from None


class JudgeSettings(StrictModel):
    """A judge: an OpenAI-compatible chat-completions endpoint, its model, and the variable that holds its API key."""

    url: BaseUrl
    """The base URL of the endpoint, with or without /v1."""
    model: Text
    """The name of the model that grades the replies."""
    api_key_env: Text | None = None
    """The name of the environment variable that holds the API key, never the key itself."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    """The sampling temperature, 0 by default; null sends none, for models that reject it."""


def judge_builder(
    redactor: Redactor | None = None, *, insecure_http: bool = False
) -> Callable[[JudgeSettings | None], Judge | None]:
    """Return a function that makes the judge of a suite; suites with the same judge share it.

    The suite's settings override REMOTE_EVALS_JUDGE_URL, _MODEL and _API_KEY; with neither, the function returns None.
    `insecure_http` allows sending keys over plain HTTP to a remote host. The function raises `UsageError` for settings
    that are incomplete or cannot be used.
    """
    known_secrets = redactor or Redactor()
    judges: dict[JudgeSettings | None, Judge | None] = {}

    def build(settings: JudgeSettings | None) -> Judge | None:
        if settings not in judges:
            judges[settings] = make(settings) if settings else make_from_environment()
        return judges[settings]

    def make(settings: JudgeSettings) -> Judge:
        return LLMJudge(
            settings.url,
            settings.model,
            api_key=_read_api_key(settings.api_key_env),
            temperature=settings.temperature,
            insecure_http=insecure_http,
            redactor=known_secrets,
        )

    def make_from_environment() -> Judge | None:
        if not os.environ.get(JUDGE_URL_VARIABLE):
            return None
        return LLMJudge.from_environment(insecure_http=insecure_http, redactor=known_secrets)

    return build


def _read_api_key(variable: str | None) -> Secret | None:
    return read_token_variable(variable, "the suite's judge.api_key_env") if variable else None
