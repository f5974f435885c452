"""Where a judge is and what is sent to it: its URL, key and headers, and the variables that they come from."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ..core.urls import PrivateUrl, explain_exposure, join_url, parse_base_url
from ..errors import UsageError
from ..redaction import Redactor, Secret
from ..redaction.credentials import check_headers, find_credentials, find_url_credentials, name_credentials
from ..transport.auth import check_token

URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE = (f"REMOTE_EVALS_JUDGE_{name}" for name in ("URL", "MODEL", "API_KEY"))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The URL of a judge's chat completions, and the key and headers that are sent; each part may hold a secret."""

    url: PrivateUrl
    key: Secret | None
    headers: Mapping[str, str] = field(repr=False)

    def hide_from(self, redactor: Redactor) -> None:
        """Add every secret of the endpoint to the redactor."""
        if self.key:
            redactor.add(self.key)
        for secret in (*find_credentials(self.headers), *find_url_credentials(self.url)):
            redactor.add(Secret(secret))

    def name_secrets(self) -> Iterator[str]:
        """Yield what the secrets are: "the judge's API key", "the header X-Api-Key", "the query of the URL"."""
        if self.key:
            yield "the judge's API key"
        yield from name_credentials(self.url, self.headers)


def read_environment(environ: Mapping[str, str]) -> tuple[PrivateUrl, str, Secret | None]:
    """Return URL, model and key from the environment; empty, or None, for a variable that is not set."""
    url, model, key = (environ.get(name, "").strip() for name in (URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE))
    return PrivateUrl(url), model, Secret(key) if key else None


def check_endpoint(
    url: str, key: Secret | None, headers: Mapping[str, str], *, insecure_http: bool
) -> Endpoint | UsageError:
    """Return the endpoint, or the error that the caller raises, so that no frame of its traceback holds a secret.

    Without `insecure_http`, secrets are sent over plain HTTP only to this machine.
    """
    try:
        endpoint = Endpoint(_get_completions_url(url), _check_key(key), _check_headers(headers))
    except UsageError as error:
        return error.with_traceback(None)
    exposed = None if insecure_http else explain_exposure(endpoint.url, list(endpoint.name_secrets()))
    return UsageError(exposed) if exposed else endpoint


def _get_completions_url(url: str) -> PrivateUrl:
    """Return the URL of the chat completions: below a base URL, or the URL itself if it is theirs."""
    try:
        base = parse_base_url(url)
    except ValueError as error:
        raise UsageError(f"the judge's URL: {error}") from None
    path = urlsplit(base).path
    if path.endswith("/chat/completions"):
        return base
    return join_url(base, "/chat/completions" if re.search(r"/v[0-9]+[a-z0-9]*$", path) else "/v1/chat/completions")


def _check_key(key: Secret | None) -> Secret | None:
    try:
        return check_token(key) if key else None
    except UsageError as error:
        raise UsageError(f"the judge's API key: {error}; leave it out if the judge needs none") from None


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    try:
        return check_headers(headers)
    except ValueError as error:
        raise UsageError(f"the judge's headers: {error}") from None
