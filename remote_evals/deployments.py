"""Which deployment a suite is sent to, and with which token: the caller says it, or the suite, or the environment."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .errors import UsageError
from .redaction import Redactor, Secret
from .suites import TargetSettings
from .targets import Limits, RemoteTarget
from .urls import parse_base_url, show_url

URL_VARIABLE = "REMOTE_EVALS_URL"
TOKEN_VARIABLE = "REMOTE_EVALS_TOKEN"  # noqa: S105 - a variable's name

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """What the caller says of the target, as `RemoteTarget` takes it; None and empty where it says nothing.

    `is_fake` marks the bundled fake server: no token of the environment or a suite is meant for it.
    """

    url: str | None = None
    token: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_headers: tuple[str, ...] = ()
    ca_bundle: Path | None = None
    insecure: bool = False
    insecure_http: bool = False
    limits: Limits = field(default_factory=Limits)
    retries: int = 2
    is_fake: bool = False


def target_builder(
    options: TargetOptions | None = None, redactor: Redactor | None = None
) -> Callable[[TargetSettings], RemoteTarget | None]:
    """Return what makes the target of a suite, None for a suite without a URL; suites of one deployment share one.

    The target's URL, token and headers are what the options say, then what the suite says; a suite's `token_env` is
    read when its target is made, and REMOTE_EVALS_TOKEN is the last resort. Building raises `UsageError` for a
    variable that is not set, and for what `RemoteTarget` refuses.
    """
    given, known = options or TargetOptions(), redactor or Redactor()
    made: list[tuple[TargetOptions, str | None, RemoteTarget]] = []

    def build(settings: TargetSettings) -> RemoteTarget | None:
        asked, token_env = _add_settings(given, settings), settings.token_env
        if asked.url is None:
            return None
        for options, variable, target in made:
            if (options, variable) == (asked, token_env):
                return target
        token = given.token or (None if given.is_fake else _suite_token(token_env))
        target = _make_target(replace(asked, token=token), known)
        made.append((asked, token_env, target))
        return target

    return build


def _add_settings(given: TargetOptions, settings: TargetSettings) -> TargetOptions:
    return replace(
        given,
        url=given.url or settings.url,
        headers={**settings.headers, **given.headers},
        secret_headers=(*settings.secret_headers, *given.secret_headers),
    )


def _make_target(options: TargetOptions, redactor: Redactor) -> RemoteTarget:
    assert options.url  # noqa: S101 - asked for by its caller
    try:
        return RemoteTarget(
            options.url,
            token=options.token,
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


def read_url(given: str | None, named_by: str) -> str | None:
    """Return the base URL that an option gives, else REMOTE_EVALS_URL; None where neither does. Raises `UsageError`."""
    if given is None:
        given, named_by = os.environ.get(URL_VARIABLE) or None, URL_VARIABLE
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


def _suite_token(token_env: str | None) -> Secret | None:
    if token_env and (token_env in os.environ or not os.environ.get(TOKEN_VARIABLE)):
        return read_token_variable(token_env, "the suite's token_env")
    return read_token_variable(TOKEN_VARIABLE, "the environment") if os.environ.get(TOKEN_VARIABLE) else None
