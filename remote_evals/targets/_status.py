"""What an answer that is not an event stream means: a refused token, a failing deployment, a page of something else."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import httpx

from ..errors import RemoteError, RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError
from ..retry_after import parse_retry_after
from ._body import BOUNDED_ENCODINGS, encoding_of, read_quote

MAX_ENCODING_CHARS = 40

_ADVICE = {
    400: "The deployment did not understand the request: check that it speaks the /chat protocol",
    404: "Check the URL: the agent may be mounted below a path",
    405: "This URL takes no POST: it may be that of something else",
    501: "This URL takes no POST: it may be that of something else",
    413: "The prompt is larger than the deployment takes",
    429: "The deployment limits how often it may be called: try a lower --concurrency",
    502: "The proxy before the agent could not reach it, or got no answer from it: check that it runs",
    503: "The deployment takes no requests now: check that it runs, and see --wait",
    504: "The proxy before the agent gave up waiting, the agent may go on: raise the proxy's read timeout",
}


async def read_failure(
    response: httpx.Response,
    url: str,
    scrub: Callable[[str], str],
    left_s: float,
    expected: str = "text/event-stream",
) -> RemoteError | None:
    """Return what is wrong with an answer before its body is read, None for one of the expected type with status 2xx.

    Of a wrong answer's body a start is quoted; see `read_quote`.
    """
    kind, encoding = _type_of(response), encoding_of(response)
    if response.is_success and kind == expected:
        return None if encoding in BOUNDED_ENCODINGS else _compressed(scrub(encoding), url)
    if response.has_redirect_location:
        return _redirected(response, url)
    text = await read_quote(response, scrub, left_s)
    if response.is_success:
        wanted = "an event stream" if expected == "text/event-stream" else expected
        happened = f"the answer is {kind or 'of no type'}, not {wanted}{text}"
        return RemoteStreamError(
            url, happened, "The URL may be that of a page, or a proxy answers in the agent's place"
        )
    if response.status_code in (401, 403):
        return _unauthorized(response, url, text)
    return _bad_status(response, url, text)


def is_event_stream(response: httpx.Response) -> bool:
    """Say whether an answer says that it is an event stream, whatever its status."""
    return _type_of(response) == "text/event-stream"


def _type_of(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _compressed(encoding: str, url: str) -> RemoteError:
    happened = f"the stream is compressed as {encoding[:MAX_ENCODING_CHARS]!r}, which was not asked for"
    return RemoteStreamError(url, happened, "A proxy compresses it: let it leave event streams alone")


def _unauthorized(response: httpx.Response, url: str, text: str) -> RemoteError:
    has_sent = "authorization" in response.request.headers
    if response.status_code == 403:
        happened = "this caller is not allowed"
        advice = "The token may lack a right, or a proxy before the agent refuses"
    elif response.headers.get("www-authenticate", "").lower().startswith("basic"):
        happened = "a user name and password were refused" if has_sent else "a user name and password are needed"
        advice = "A proxy asks for them, before the agent: give them by --header 'Authorization=Basic …'"
    elif has_sent:
        happened, advice = "the token was refused", "Check that the token is current and meant for this URL"
    else:
        happened, advice = "a token is needed and none was sent", "Give one by --token-env NAME or REMOTE_EVALS_TOKEN"
    return RemoteUnauthorizedError(url, f"{happened} ({response.status_code}{text})", advice, response.status_code)


def _bad_status(response: httpx.Response, url: str, text: str) -> RemoteError:
    status = response.status_code
    error = RemoteStatusError(url, f"the answer was {status}{text}", _advise(status, url, text), status)
    error.retry_after_s = parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
    return error


def _advise(status: int, url: str, text: str) -> str:
    if status == 404 and "/approvals/" in url:
        return "The deployment no longer waits for this decision, or never did"
    if url.endswith("/chat/chat"):
        return "Leave /chat off the URL: it is added"
    if status == 400 and url.startswith("http:") and "HTTPS" in text:
        return "This port speaks TLS: write the URL with https://"
    default = "Check the deployment's logs" if status >= 500 else "Check the URL and what the deployment expects"
    return _ADVICE.get(status, default)


def _redirected(response: httpx.Response, url: str) -> RemoteError:
    where, advice = "another address", "check the URL, or whether a login stands before it"
    with suppress(httpx.InvalidURL, ValueError):
        target, asked = response.url.join(response.headers["location"]), response.url
        # The origin alone: the path of a login link may hold what logs in.
        where = f"{target.scheme}://{target.netloc.decode('ascii').rpartition('@')[2]}"
        if (target.host, target.scheme) == (asked.host, "https") and asked.scheme == "http":
            advice = "write the URL with https://"
        elif (target.scheme, target.netloc) == (asked.scheme, asked.netloc):
            where = f"another path of {where}"
    happened = f"the answer was {response.status_code}, a redirect to {where}"
    return RemoteStatusError(url, happened, f"Redirects are not followed: {advice}", response.status_code)
