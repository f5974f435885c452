"""What says where a judge is and how it is asked: its URL, key and headers, and the variables that hold them."""

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
    """The URL of a judge's chat completions with all that is sent to it, each part of which may hold a secret."""

    url: PrivateUrl
    key: Secret | None
    headers: Mapping[str, str] = field(repr=False)

    def hide_from(self, redactor: Redactor) -> None:
        """Make every secret known to the redactor."""
        if self.key:
            redactor.add(self.key)
        for secret in (*find_credentials(self.headers), *find_url_credentials(self.url)):
            redactor.add(Secret(secret))

    def find_names(self) -> Iterator[str]:
        """Yield what the secrets are: "the judge's API key", "the header X-Api-Key", "the query of the URL"."""
        if self.key:
            yield "the judge's API key"
        yield from name_credentials(self.url, self.headers)


def check_endpoint(
    url: str, key: Secret | None, headers: Mapping[str, str], *, insecure_http: bool
) -> Endpoint | UsageError:
    """Return what can be sent, or what is wrong with it: raised by the caller, no frame shows a secret.

    Secrets go over plain http to this machine alone, unless `insecure_http` lets them.
    """
    try:
        endpoint = Endpoint(_find_completions(url), _check_key(key), _check_headers(headers))
    except UsageError as error:
        return error.with_traceback(None)
    exposed = None if insecure_http else explain_exposure(endpoint.url, list(endpoint.find_names()))
    return UsageError(exposed) if exposed else endpoint


def read_environment(environ: Mapping[str, str]) -> tuple[PrivateUrl, str, Secret | None]:
    """Return URL, model and key as the environment sets them; what it does not set is empty, or None."""
    url, model, key = (environ.get(name, "").strip() for name in (URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE))
    return PrivateUrl(url), model, Secret(key) if key else None


def _find_completions(url: str) -> PrivateUrl:
    """Return the URL of the chat completions below a base URL, or itself where it names them already."""
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
        raise UsageError(f"the judge's API key: {error}; leave it out where the judge asks for none") from None


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    try:
        return check_headers(headers)
    except ValueError as error:
        raise UsageError(f"the judge's headers: {error}") from None
