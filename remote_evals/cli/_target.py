"""The options that name a deployment and say how it is asked, parsed."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..deployments import TargetOptions, read_token_variable, read_url
from ..errors import UsageError
from ..headers import check_headers
from ..redaction import Secret
from ..targets import Limits
from ._exit import warn
from ._options import read_duration

_HEADER = re.compile(r"([^=:\s]+)\s*[=:]\s*(.*)")


def parse_target_options(
    *,
    url: str | None,
    token: str | None,
    token_env: str | None,
    token_file: Path | None,
    headers: Sequence[str] | None,
    secret_headers: Sequence[str] | None,
    ca_bundle: Path | None,
    insecure: bool,
    insecure_http: bool,
    limits: Limits,
    retries: int = TargetOptions().retries,
    fake: Path | None = None,
) -> TargetOptions:
    """Return the options, checked; warns of `insecure`. Raises `UsageError`, which never holds a token."""
    if insecure:
        warn("--insecure: certificates are not checked; whoever is in between can read the token and forge replies")
    secret = Secret(token) if token is not None else None
    options = {"--url": url, "--token": secret, "--token-env": token_env, "--token-file": token_file}
    given = [name for name, value in options.items() if value is not None]
    tokens = [name for name in given if name != "--url"]
    if fake and given:
        raise UsageError(f"--fake brings its own URL and token; leave out {' and '.join(given)}")
    if len(tokens) > 1:
        raise UsageError(f"{' and '.join(tokens)} were given; one token is enough")
    if secret and not secret.reveal():
        raise UsageError("--token is empty; is a variable not set?")
    if token_env is not None:
        secret = read_token_variable(token_env, "--token-env")
    if token_file is not None:
        secret = _read_token(token_file)
    return TargetOptions(
        None if fake else read_url(url, "--url"),
        secret,
        _parse_headers(headers or ()),
        secret_headers=tuple(secret_headers or ()),
        ca_bundle=ca_bundle,
        insecure=insecure,
        insecure_http=insecure_http,
        limits=limits,
        retries=retries,
    )


def parse_limits(
    *,
    connect_timeout: str | None,
    headers_timeout: str | None,
    first_event_timeout: str | None,
    silence_timeout: str | None,
    turn_timeout: str | None,
) -> Limits:
    """Return how long each wait may take: what is not given as by default, 0 as no limit. Raises `UsageError`."""
    given = {
        "connect_s": read_duration("--connect-timeout", connect_timeout),
        "headers_s": read_duration("--headers-timeout", headers_timeout),
        "first_event_s": read_duration("--first-event-timeout", first_event_timeout),
        "silence_s": read_duration("--silence-timeout", silence_timeout),
        "turn_s": read_duration("--turn-timeout", turn_timeout),
    }
    return Limits(**{name: limit_s or math.inf for name, limit_s in given.items() if limit_s is not None})


def parse_expected_headers(given: Sequence[str] | None) -> Mapping[str, str]:
    """Return what the options `--expect-header` expect. Raises `UsageError`."""
    return _split_headers("--expect-header", given or (), "NAME: VALUE")


def _read_token(path: Path) -> Secret:
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        # The path is not repeated: whoever mistakes the option gives the token itself.
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"the file that --token-file names cannot be read: {why}") from None
    if not text:
        raise UsageError(f"--token-file {path}: the file is empty; it should hold the token")
    return Secret(text)


def _parse_headers(headers: Sequence[str]) -> dict[str, str]:
    try:
        return check_headers(_split_headers("--header", headers, "NAME=VALUE"))
    except ValueError as error:
        raise UsageError(f"--header: {error}") from None


def _split_headers(option: str, headers: Sequence[str], form: str) -> dict[str, str]:
    found = [_HEADER.fullmatch(header) for header in headers]
    if None in found:
        # The text is not repeated: what looks broken may still hold a credential.
        raise UsageError(f"{option} number {found.index(None) + 1} is not a header; write it as {form}")
    return {header[1]: header[2] for header in found if header}
