"""What a deployment is sent that nobody else may see, and over which connection it may go."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ..core.urls import PrivateUrl, explain_exposure, parse_base_url
from ..errors import UsageError
from ..redaction import Redactor, Secret
from ..redaction.credentials import (
    check_headers,
    check_secret_headers,
    find_credentials,
    find_url_credentials,
    name_credentials,
)
from ._token import TokenSource, check_token


@dataclass(frozen=True, slots=True)
class Credentials:
    """A base URL with all that is sent to it, each part of which may hold a secret."""

    url: PrivateUrl
    token: TokenSource
    headers: Mapping[str, str] = field(repr=False)
    secret_headers: tuple[str, ...] = ()

    def hide_from(self, redactor: Redactor) -> None:
        """Make every secret known to the redactor, but those that a callable will give."""
        if isinstance(self.token, Secret):
            redactor.add(self.token)
        for secret in (*find_credentials(self.headers, self.secret_headers), *find_url_credentials(self.url)):
            redactor.add(Secret(secret))

    def find_names(self) -> Iterator[str]:
        """Yield what the secrets are: "the token", "the header X-Api-Key", "the query of the URL"."""
        if self.token is not None:
            yield "the token"
        yield from name_credentials(self.url, self.headers, self.secret_headers)


def check_credentials(
    url: str, token: TokenSource, headers: Mapping[str, str], secret_headers: Collection[str], *, insecure_http: bool
) -> Credentials | UsageError | ValueError:
    """Return what can be sent, or what is wrong with it: raised by the caller, no frame shows a secret.

    Secrets go over plain http to this machine alone, unless `insecure_http` lets them.
    """
    # A single name is a collection of letters too.
    named = (secret_headers,) if isinstance(secret_headers, str) else tuple(secret_headers)
    try:
        token = check_token(token) if isinstance(token, Secret) else token
        checked = Credentials(parse_base_url(url), token, check_headers(headers), named)
        check_secret_headers(named, headers)
    except (UsageError, ValueError) as error:
        return error.with_traceback(None)
    mistake = _find_mistake(checked, insecure_http=insecure_http)
    return UsageError(mistake) if mistake else checked


def _find_mistake(sent: Credentials, *, insecure_http: bool) -> str | None:
    if sent.token is not None and any(name.lower() == "authorization" for name in sent.headers):
        return (
            "a token was given and the header Authorization too, and only one can be sent; leave one of them out "
            "(a token may also come from REMOTE_EVALS_TOKEN or a suite's token_env)"
        )
    return None if insecure_http else explain_exposure(sent.url, list(sent.find_names()))
