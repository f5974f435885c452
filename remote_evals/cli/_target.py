"""Which deployment a run asks, from options, suite files and the environment."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..redaction import Redactor, Secret
from ..suites import TargetSettings
from ..targets import RemoteTarget
from ..urls import parse_base_url

URL_VARIABLE = "REMOTE_EVALS_URL"
TOKEN_VARIABLE = "REMOTE_EVALS_TOKEN"  # noqa: S105 - a variable's name

_HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*[=:]\s*([^\r\n\0]*)")


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """What the command line says of the target; None and empty where it says nothing.

    `is_fake` marks the bundled fake server: no token of the environment or a suite is meant for it.
    """

    url: str | None
    token: Secret | None
    headers: Mapping[str, str]
    is_fake: bool = False

    def at_fake(self, url: str, token: str | None) -> "TargetOptions":
        """Return the options for the fake server at `url`."""
        return TargetOptions(url, Secret(token) if token else None, self.headers, is_fake=True)


def parse_target_options(
    *,
    url: str | None,
    token: str | None,
    token_env: str | None,
    token_file: Path | None,
    headers: Sequence[str],
    fake: Path | None,
) -> TargetOptions:
    """Return the options, checked. Raises `UsageError`, which never holds a token."""
    secret = Secret(token) if token else None
    named = {"--token": secret, "--token-env": token_env, "--token-file": token_file}
    given = [name for name, value in named.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} were given; one token is enough")
    if fake and (url or given):
        raise UsageError(
            f"--fake brings its own URL and token; leave out {' and '.join(['--url'] * bool(url) + given)}"
        )
    if token_env:
        secret = _token_from(token_env, "--token-env")
    if token_file:
        secret = _read_token(token_file)
    return TargetOptions(_parse_url(url or os.environ.get(URL_VARIABLE)), secret, _parse_headers(headers))


def target_builder(options: TargetOptions, redactor: Redactor) -> Callable[[TargetSettings], RemoteTarget]:
    """Return what makes the target of a suite; suites of the same deployment share one.

    What the command line says comes before what the suite says; the token's last resort is REMOTE_EVALS_TOKEN.
    """
    targets: dict[tuple[object, ...], RemoteTarget] = {}

    def build(settings: TargetSettings) -> RemoteTarget:
        url = options.url or settings.url
        if url is None:
            raise UsageError(f"no target: pass --url URL, set {URL_VARIABLE}, or give the suite a `target:`")
        headers = {**settings.headers, **options.headers}
        key = (url, settings.token_env, *sorted(headers.items()))
        if key not in targets:
            token = options.token or (None if options.is_fake else _suite_token(settings.token_env))
            targets[key] = RemoteTarget(url, token=token, headers=headers, redactor=redactor)
        return targets[key]

    return build


def _suite_token(token_env: str | None) -> Secret | None:
    if token_env and token_env in os.environ:
        return _token_from(token_env, "token_env")
    if os.environ.get(TOKEN_VARIABLE):
        return _token_from(TOKEN_VARIABLE, "the environment")
    if token_env:
        raise UsageError(
            f"the suite takes its token from {token_env}, which is not set; set it, or use --token-env NAME"
        )
    return None


def _token_from(variable: str, named_by: str) -> Secret:
    text = os.environ.get(variable, "").strip()
    if not text:
        raise UsageError(f"the variable {variable}, named by {named_by}, is not set or empty; it should hold the token")
    return Secret(text)


def _read_token(path: Path) -> Secret:
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file {path}: cannot be read: {error.__class__.__name__}") from None
    if not text:
        raise UsageError(f"--token-file {path}: the file is empty; it should hold the token")
    return Secret(text)


def _parse_url(url: str | None) -> str | None:
    try:
        return parse_base_url(url) if url else None
    except ValueError as error:
        raise UsageError(str(error)) from None


def _parse_headers(headers: Sequence[str]) -> dict[str, str]:
    found = [_HEADER.fullmatch(header) for header in headers]
    if None in found:
        # The text is not repeated: what looks broken may still hold a credential.
        raise UsageError(f"--header number {found.index(None) + 1} is not a header; write it as NAME=VALUE")
    return {header[1]: header[2] for header in found if header}
