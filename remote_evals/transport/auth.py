"""The credentials that are sent to a deployment: the token, headers and query, checked before anything is sent.

Only `HttpClient.send` reveals the token; no message and no traceback shows any of them.
"""

import inspect
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ..core.urls import PrivateUrl, explain_exposure, parse_base_url
from ..errors import TokenSourceError, UsageError
from ..redaction import Redactor, Secret
from ..redaction.credentials import (
    check_headers,
    check_secret_headers,
    find_credentials,
    find_url_credentials,
    name_credentials,
)
from ..redaction.search import explain_short_secret

TokenSource = Secret | Callable[[], str | Awaitable[str]] | None
Token = str | TokenSource


@dataclass(frozen=True, slots=True)
class Credentials:
    """A base URL and what is sent to it; each part may hold a secret."""

    url: PrivateUrl
    token: TokenSource
    headers: Mapping[str, str] = field(repr=False)
    secret_headers: tuple[str, ...] = ()

    def hide_from(self, redactor: Redactor) -> None:
        """Add every secret to the redactor, except those that a callable will return."""
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
    """Return the checked credentials, or the error to raise: raised by the caller, its frames show no secret.

    Secrets may go over plain http to this machine only, unless `insecure_http` allows other hosts.
    """
    # A single name is itself a collection, of letters.
    named = (secret_headers,) if isinstance(secret_headers, str) else tuple(secret_headers)
    try:
        token = check_token(token) if isinstance(token, Secret) else token
        checked = Credentials(parse_base_url(url), token, check_headers(headers), named)
        check_secret_headers(named, headers)
    except (UsageError, ValueError) as error:
        return error.with_traceback(None)
    problem = _find_problem(checked, insecure_http=insecure_http)
    return UsageError(problem) if problem else checked


def _find_problem(sent: Credentials, *, insecure_http: bool) -> str | None:
    if sent.token is not None and any(name.lower() == "authorization" for name in sent.headers):
        return (
            "a token was given and the header Authorization too, and only one can be sent; leave one of them out "
            "(a token may also come from REMOTE_EVALS_TOKEN or a suite's token_env)"
        )
    return None if insecure_http else explain_exposure(sent.url, list(sent.find_names()))


def check_token(token: Secret) -> Secret:
    """Return a token that can be sent. Raises `UsageError` for one that no header can carry."""
    if problem := _find_token_problem(token):
        raise UsageError(f"the token cannot be sent: {problem}")
    return token


async def ask_token(source: TokenSource, redactor: Redactor) -> Secret | None:
    """Return the token of the next request and add it to the redactor; a callable is called for each request.

    Raises `TokenSourceError` if the callable raises or returns no text that can be sent.
    """
    token = await _call_source(source) if callable(source) else source
    if token is not None:
        if problem := _find_token_problem(token):
            raise TokenSourceError(f"the token that its callable returned cannot be sent: {problem}")
        redactor.add(token)
    return token


async def _call_source(source: Callable[[], str | Awaitable[str]]) -> Secret:
    try:
        text = source()
        if inspect.isawaitable(text):
            text = await text
    except Exception as error:  # a caller's code may raise anything
        # Only its type: the message of a secret store's error may hold the secret.
        raise TokenSourceError(f"the token could not be had: its callable raised {type(error).__name__}") from None
    return Secret(text if isinstance(text, str) else "")


def _find_token_problem(token: Secret) -> str | None:
    """Return why a token cannot be sent, or None. RFC 6750, section 2.1, allows visible ASCII without spaces."""
    text = token.reveal()
    if not text:
        return "it is empty"
    if text[:7].lower() == "bearer ":
        return "leave out the word 'Bearer', it is added"
    broken = next((at for at, character in enumerate(text, start=1) if not "!" <= character <= "~"), None)
    if broken is not None:
        return f"character {broken} of {len(text)} is not visible ASCII"
    return explain_short_secret(text)
