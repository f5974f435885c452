"""What an answer that is not an event stream means: a refused token, a failing deployment, a page of something else."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import suppress

import httpx

from ..errors import RemoteError, RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError
from ._failures import LIBRARY_ERRORS

MAX_BODY_BYTES = 64 * 1024
MAX_BODY_S = 5.0
MAX_TEXT_CHARS = 300

_LAST_WORD = re.compile(r"\S{1,4096}\Z")
_ADVICE = {
    400: "The deployment did not understand the request: check that it speaks the /chat protocol",
    404: "Check the URL: the agent may be mounted below a path",
    405: "This URL takes no POST: it may be that of something else",
    501: "This URL takes no POST: it may be that of something else",
    413: "The prompt is larger than the deployment takes",
    429: "The deployment limits how often it may be called: try a lower --concurrency",
}


async def read_failure(
    response: httpx.Response,
    url: str,
    scrub: Callable[[str], str],
    left_s: float,
    expected: str = "text/event-stream",
) -> RemoteError | None:
    """Return what is wrong with an answer before its body is read, None for one of the expected type with status 2xx.

    Of a wrong answer's body at most 64 KiB are read, for half of the `left_s` seconds and at most 5, and quoted is one
    line of at most 300 characters of what `scrub` leaves.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.is_success and kind == expected:
        return None
    if response.has_redirect_location:
        return _redirected(response, url)
    text = _quote(scrub(await _read_body(response, min(left_s / 2, MAX_BODY_S))))
    if response.is_success:
        wanted = "an event stream" if expected == "text/event-stream" else expected
        happened = f"the answer is {kind or 'of no type'}, not {wanted}{text}"
        return RemoteStreamError(
            url, happened, "The URL may be that of a page, or a proxy answers in the agent's place"
        )
    if response.status_code in (401, 403):
        return _unauthorized(response, url, text)
    return _bad_status(response.status_code, url, text)


def _unauthorized(response: httpx.Response, url: str, text: str) -> RemoteError:
    if response.status_code == 403:
        happened, advice = (
            "this caller is not allowed",
            "The token may lack a right, or a proxy before the agent refuses",
        )
    elif "authorization" in response.request.headers:
        happened, advice = "the token was refused", "Check that the token is current and meant for this URL"
    else:
        happened, advice = "a token is needed and none was sent", "Give one by --token-env NAME or REMOTE_EVALS_TOKEN"
    return RemoteUnauthorizedError(url, f"{happened} ({response.status_code}{text})", advice)


def _bad_status(status: int, url: str, text: str) -> RemoteError:
    default = "Check the deployment's logs" if status >= 500 else "Check the URL and what the deployment expects"
    advice = "Leave /chat off the URL: it is added" if url.endswith("/chat/chat") else _ADVICE.get(status, default)
    return RemoteStatusError(url, f"the answer was {status}{text}", advice, status)


def _redirected(response: httpx.Response, url: str) -> RemoteError:
    # The origin alone: the path of a login link may hold what logs in.
    try:
        target = response.url.join(response.headers["location"])
        origin = f"{target.scheme}://{target.netloc.decode('ascii').rpartition('@')[2]}"
    except (httpx.InvalidURL, ValueError):
        origin = "another address"
    happened = f"the answer was {response.status_code}, a redirect to {origin}"
    advice = "Redirects are not followed: check the URL, or whether a login stands before it"
    return RemoteStatusError(url, happened, advice, response.status_code)


async def _read_body(response: httpx.Response, limit_s: float) -> str:
    """Return the start of a body, as far as it comes: the status is known, and a body that hangs does not change it."""
    body, is_whole = bytearray(), False
    with suppress(*LIBRARY_ERRORS):
        async with asyncio.timeout(limit_s):
            async for part in response.aiter_bytes():
                body += part
                if len(body) >= MAX_BODY_BYTES:
                    break
            else:
                is_whole = True
    text = body[:MAX_BODY_BYTES].decode("utf-8", "replace")
    # The last word of a body that was not read to its end may be half a secret, which no redactor knows.
    return text if is_whole else _LAST_WORD.sub("", text)


def _quote(body: str) -> str:
    """Return `: ` and the server's `{"error"}` text, or the start of its body, on one line; nothing for no body."""
    try:
        value = json.loads(body)
        error = value.get("error") if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        error = None
    text = " ".join((error if isinstance(error, str) else body).split())
    if not text:
        return ""
    return f": {text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + '…'}"
