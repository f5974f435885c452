"""What an answer that is not an event stream means: a refused token, a failing deployment, a page of something else."""

import asyncio
import json
from contextlib import suppress

import httpx

from ..errors import RemoteError, RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError
from ..urls import show_url
from ._failures import LIBRARY_ERRORS

MAX_BODY_BYTES = 64 * 1024
MAX_BODY_S = 5.0
MAX_TEXT_CHARS = 300

_ADVICE = {
    400: "The deployment did not understand the request: check that it speaks the /chat protocol",
    404: "Check the URL: the agent may be mounted below a path",
    413: "The prompt is larger than the deployment takes",
    429: "The deployment limits how often it may be called: try a lower --concurrency",
}


async def read_failure(response: httpx.Response, url: str) -> RemoteError | None:
    """Return what is wrong with an answer before any event is read, None for an event stream with a 2xx status.

    Of the body at most 64 KiB are read, and what is quoted of it is one line of at most 300 characters.
    """
    if response.is_success:
        return await _check_stream(response, url)
    if response.status_code == 401:
        happened = f"the token was refused (401{_quote(await _read_body(response))})"
        return RemoteUnauthorizedError(url, happened, "Check that the token is set, current and meant for this URL")
    if response.status_code == 403:
        happened = f"this caller is not allowed (403{_quote(await _read_body(response))})"
        return RemoteUnauthorizedError(url, happened, "The token may lack a right, or a proxy before the agent refuses")
    if response.has_redirect_location:
        return _redirected(response, url)
    return await _bad_status(response, url)


async def _check_stream(response: httpx.Response, url: str) -> RemoteError | None:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        return None
    happened = f"the answer is {kind or 'of no type'}, not an event stream{_quote(await _read_body(response))}"
    return RemoteStreamError(url, happened, "The URL may be that of a page, or a proxy answers in the agent's place")


async def _bad_status(response: httpx.Response, url: str) -> RemoteError:
    status = response.status_code
    text = _quote(await _read_body(response))
    default = "Check the deployment's logs" if status >= 500 else "Check the URL and what the deployment expects"
    return RemoteStatusError(url, f"the answer was {status}{text}", _ADVICE.get(status, default), status)


def _redirected(response: httpx.Response, url: str) -> RemoteError:
    try:
        target = response.url.join(response.headers["location"])
        origin = f"{target.scheme}://{target.netloc.decode('ascii').rpartition('@')[2]}"
    except (httpx.InvalidURL, ValueError):
        origin = "another address"
    status = response.status_code
    happened = f"the answer was {status}, a redirect to {origin}"
    return RemoteStatusError(url, happened, f"Redirects are not followed: give the URL behind {show_url(url)}", status)


async def _read_body(response: httpx.Response) -> str:
    """Return the start of a body, as far as it comes: the status is known, and a body that hangs does not change it."""
    body = bytearray()
    with suppress(*LIBRARY_ERRORS):
        async with asyncio.timeout(MAX_BODY_S):
            async for part in response.aiter_bytes():
                body += part
                if len(body) >= MAX_BODY_BYTES:
                    break
    return body[:MAX_BODY_BYTES].decode("utf-8", "replace")


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
