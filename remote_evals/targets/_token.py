"""Where the token of a request comes from, and how it gets on the wire without passing anyone who might show it."""

import inspect
from collections.abc import Awaitable, Callable, Generator

import httpx

from ..errors import TokenSourceError
from ..redaction import Redactor, Secret

Token = str | Secret | Callable[[], str | Awaitable[str]] | None


class BearerAuth(httpx.Auth):
    """Puts the token into the request just before it is sent, so that no caller ever holds the header."""

    def __init__(self, token: Secret) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the Authorization header (RFC 6750, section 2.1)."""
        request.headers["Authorization"] = f"Bearer {self._token.reveal()}"
        yield request


async def ask_token(token: Token, redactor: Redactor) -> Secret | None:
    """Return the token of the next request, known to the redactor; a callable is asked anew each time.

    Raises `TokenSourceError` when the callable raises or returns no text.
    """
    if callable(token):
        token = await _call(token)
    if isinstance(token, str):
        token = Secret(token)
    if token is not None:
        redactor.add(token)
    return token


async def _call(source: Callable[[], str | Awaitable[str]]) -> str:
    try:
        text = source()
        if inspect.isawaitable(text):
            text = await text
    except Exception as error:  # whatever a caller's code raises, it is the token that could not be had
        raise TokenSourceError(f"the token could not be had: its callable raised {type(error).__name__}") from None
    if not isinstance(text, str) or not text:
        raise TokenSourceError(f"the token could not be had: its callable returned {type(text).__name__}, not text")
    return text
