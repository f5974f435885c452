"""The options that name a deployment, parsed."""

import re
from collections.abc import Sequence
from pathlib import Path

from ..deployments import TargetOptions, read_token_variable, read_url
from ..errors import UsageError
from ..headers import check_headers
from ..redaction import Secret

_HEADER = re.compile(r"([^=:\s]+)\s*[=:]\s*(.*)")


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
    return TargetOptions(None if fake else read_url(url, "--url"), secret, _parse_headers(headers))


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
    found = [_HEADER.fullmatch(header) for header in headers]
    if None in found:
        # The text is not repeated: what looks broken may still hold a credential.
        raise UsageError(f"--header number {found.index(None) + 1} is not a header; write it as NAME=VALUE")
    try:
        return check_headers({header[1]: header[2] for header in found if header})
    except ValueError as error:
        raise UsageError(f"--header: {error}") from None
