"""What says where a judge is: its variables, and what its URL, key and headers must be."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from ..errors import UsageError
from ..headers import check_headers as check_sendable
from ..redaction import Secret
from ..targets._token import check_token
from ..urls import join_url, parse_base_url

URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE = (f"REMOTE_EVALS_JUDGE_{name}" for name in ("URL", "MODEL", "API_KEY"))


def read_environment(environ: Mapping[str, str]) -> tuple[str, str, Secret | None]:
    """Return URL, model and key as the environment sets them; what it does not set is empty, or None."""
    url, model, key = (environ.get(name, "").strip() for name in (URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE))
    return url, model, Secret(key) if key else None


def check_key(key: Secret) -> Secret:
    """Return a key that can be sent. Raises `UsageError`."""
    try:
        return check_token(key)
    except UsageError as error:
        raise UsageError(f"the judge's API key: {error}; leave it out where the judge asks for none") from None


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers that can be sent. Raises `UsageError`."""
    try:
        return check_sendable(headers)
    except ValueError as error:
        raise UsageError(f"the judge's headers: {error}") from None


def find_endpoint(url: str) -> str:
    """Return the URL of the chat completions below a base URL, or itself where it names them already."""
    try:
        base = parse_base_url(url)
    except ValueError as error:
        raise UsageError(f"the judge's URL: {error}") from None
    path = urlsplit(base).path
    if path.endswith("/chat/completions"):
        return base
    return join_url(base, "/chat/completions" if re.search(r"/v[0-9]+[a-z0-9]*$", path) else "/v1/chat/completions")
