"""Where the token of a request comes from, and how it gets on the wire without passing anyone who might show it."""

import inspect
from collections.abc import Awaitable, Callable

from ..errors import TokenSourceError, UsageError
from ..redaction import Redactor, Secret
from ..redaction.search import explain_short_secret

TokenSource = Secret | Callable[[], str | Awaitable[str]] | None
Token = str | TokenSource


def check_token(token: Secret) -> Secret:
    """Return a token that can be sent. Raises `UsageError` for one that no header can carry."""
    if mistake := _find_mistake(token):
        raise UsageError(f"the token cannot be sent: {mistake}")
    return token


async def ask_token(source: TokenSource, redactor: Redactor) -> Secret | None:
    """Return the token of the next request, known to the redactor; a callable is asked anew each time.

    Raises `TokenSourceError` when the callable raises or returns no text that can be sent.
    """
    token = await _call(source) if callable(source) else source
    if token is not None:
        if mistake := _find_mistake(token):
            raise TokenSourceError(f"the token that its callable returned cannot be sent: {mistake}")
        redactor.add(token)
    return token


async def _call(source: Callable[[], str | Awaitable[str]]) -> Secret:
    try:
        text = source()
        if inspect.isawaitable(text):
            text = await text
    except Exception as error:  # whatever a caller's code raises, it is the token that could not be had
        # Only the type: the text of an error of somebody's secret store may hold the secret.
        raise TokenSourceError(f"the token could not be had: its callable raised {type(error).__name__}") from None
    return Secret(text if isinstance(text, str) else "")


def _find_mistake(token: Secret) -> str | None:
    """Return why a token cannot be sent: RFC 6750, section 2.1, allows visible ASCII without spaces."""
    text = token.reveal()
    if not text:
        return "it is empty"
    if text[:7].lower() == "bearer ":
        return "leave out the word 'Bearer', it is added"
    broken = next((at for at, character in enumerate(text, start=1) if not "!" <= character <= "~"), None)
    if broken is not None:
        return f"character {broken} of {len(text)} is not visible ASCII"
    return explain_short_secret(text)
