"""Which deployment a suite is sent to, and with which token: the caller says it, or the suite, or the environment."""

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


class TargetSettings(StrictModel):
    """A deployment: its base URL, the environment variable that holds its token, and headers to send."""

    url: BaseUrl | None = None
    """The base URL of the deployment; `--url` comes before it."""
    token_env: Text | None = None
    """The environment variable that holds the bearer token, never the token itself."""
    headers: Annotated[dict[str, str], AfterValidator(check_headers)] = Field(default_factory=dict, repr=False)
    """Headers to send with every request."""
    secret_headers: Texts = ()
    """The names of those headers whose values are secret: they are never shown, as the token."""


class JudgeSettings(StrictModel):
    """A judge: any OpenAI-compatible chat-completions endpoint, its model, and the variable that holds its key."""

    url: BaseUrl
    """The base URL of the endpoint, with or without /v1."""
    model: Text
    """The model that grades."""
    api_key_env: Text | None = None
    """The environment variable that holds the API key, never the key itself."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    """The sampling temperature; null sends none, for models that refuse it."""


URL_VARIABLE = "REMOTE_EVALS_URL"
TOKEN_VARIABLE = "REMOTE_EVALS_TOKEN"  # noqa: S105 - a variable's name

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class TokenVariable(NamedTuple):
    """The environment variable that should hold a token, and who named it."""

    name: str
    named_by: str


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """What the caller says of the target, as `RemoteTarget` takes it; None and empty where it says nothing.

    The token is said itself, or by its variable. Without `reads_environment`, no variable gives another URL or token:
    not REMOTE_EVALS_URL, not REMOTE_EVALS_TOKEN, and none that a suite names.
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
        """Return the options with what settings say where they say nothing themselves; headers add up.

        `named_by` says where the settings name the variable of the token.
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
    """Return the options with the token whose variable they name, and REMOTE_EVALS_URL where they say no URL.

    REMOTE_EVALS_TOKEN is not read yet: what a suite says comes before it. Raises `UsageError` for a variable that is
    not set or holds no URL.
    """
    if not options.reads_environment:
        return options
    url = options.url or parse_url(os.environ.get(URL_VARIABLE) or None, URL_VARIABLE)
    token = read_token_variable(*options.token) if isinstance(options.token, TokenVariable) else options.token
    return replace(options, url=url, token=token)


def target_builder(
    options: TargetOptions | None = None, redactor: Redactor | None = None
) -> Callable[[TargetSettings], RemoteTarget | None]:
    """Return what makes the target of a suite, None for a suite without a URL; suites of one deployment share one.

    The target's URL, token and headers are what the options say, then what the suite says; a suite's `token_env` is
    read when its target is made, and REMOTE_EVALS_TOKEN is the last resort. Building raises `UsageError` for a
    variable that is not set, and for what `RemoteTarget` refuses.
    """
    given, known = options or TargetOptions(), redactor or Redactor()
    made: list[tuple[TargetOptions, RemoteTarget]] = []

    def build(settings: TargetSettings) -> RemoteTarget | None:
        asked = given.over(settings, "the suite's token_env")
        if asked.url is None:
            return None
        for options, target in made:
            if options == asked:
                return target
        target = _make_target(asked, known)
        made.append((asked, target))
        return target

    return build


def find_token(options: TargetOptions) -> Secret | None:
    """Return the token that the options say; REMOTE_EVALS_TOKEN where they say none, or a variable that is not there.

    Raises `UsageError` for a variable that is not set, or empty.
    """
    said = options.token
    if isinstance(said, Secret):
        return said
    has_default = options.reads_environment and bool(os.environ.get(TOKEN_VARIABLE))
    if said and (said.name in os.environ or not has_default):
        return read_token_variable(*said)
    return read_token_variable(TOKEN_VARIABLE, "the environment") if has_default else None


def _make_target(options: TargetOptions, redactor: Redactor) -> RemoteTarget:
    assert options.url  # noqa: S101 - asked for by its caller
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


def parse_url(given: str | None, named_by: str) -> str | None:
    """Return the base URL that an option or variable gives, None where it is not given. Raises `UsageError`."""
    if given is None:
        return None
    if not given.strip():
        raise UsageError(f"{named_by} is empty; is a variable not set?")
    try:
        return parse_base_url(given)
    except ValueError as error:
        raise UsageError(f"{named_by}: {error}") from None


def read_token_variable(variable: str, named_by: str) -> Secret:
    """Return the token in an environment variable, whose name `named_by` gave. Raises `UsageError`."""
    if not _VARIABLE.fullmatch(variable):
        # Not repeated: whoever mistakes the option gives the token itself.
        raise UsageError(f"{named_by} takes the name of an environment variable, not the token itself")
    text = os.environ.get(variable, "").strip()
    if not text:
        # A name in small letters may be the token itself, given where its variable's name belongs.
        shown = f"the variable {variable}" if variable.isupper() else "the variable"
        raise UsageError(f"{shown}, named by {named_by}, is not set or empty; it should hold the token")
    return Secret(text)


def judge_builder(
    redactor: Redactor | None = None, *, insecure_http: bool = False
) -> Callable[[JudgeSettings | None], Judge | None]:
    """Return what makes the judge of a suite; suites of one judge share it.

    What the suite says comes before REMOTE_EVALS_JUDGE_URL, _MODEL and _API_KEY; where neither says anything there
    is none. `insecure_http` lets keys go over plain http to other machines. Building raises `UsageError` for what is
    set in part, or cannot be used.
    """
    known = redactor or Redactor()
    judges: dict[JudgeSettings | None, Judge | None] = {}

    def build(settings: JudgeSettings | None) -> Judge | None:
        if settings not in judges:
            judges[settings] = make(settings) if settings else make_from_environment()
        return judges[settings]

    def make(settings: JudgeSettings) -> Judge:
        return LLMJudge(
            settings.url,
            settings.model,
            api_key=_read_key(settings.api_key_env),
            temperature=settings.temperature,
            insecure_http=insecure_http,
            redactor=known,
        )

    def make_from_environment() -> Judge | None:
        if not os.environ.get(JUDGE_URL_VARIABLE):
            return None
        return LLMJudge.from_environment(insecure_http=insecure_http, redactor=known)

    return build


def _read_key(variable: str | None) -> Secret | None:
    return read_token_variable(variable, "the suite's judge.api_key_env") if variable else None
