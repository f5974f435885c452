"""The start of a wrong answer's body, as a message may quote it."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from ..errors import RemoteError, RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError
from .failures import LIBRARY_ERRORS

MAX_BODY_BYTES = 64 * 1024
MAX_BODY_S = 5.0
MAX_TEXT_CHARS = 300
MAX_SECRET_CHARS = 4096

# Their decoders let a small answer grow no further than about a thousandfold.
BOUNDED_ENCODINGS = ("", "identity", "gzip", "deflate")


def encoding_of(response: httpx.Response) -> str:
    """Return the content-encoding in small letters, empty for none."""
    return str(response.headers.get("content-encoding", "")).strip().lower()


async def read_quote(response: httpx.Response, scrub: Callable[[str], str], left_s: float) -> str:
    """Return `: ` and one line of at most 300 characters of what `scrub` leaves of a body; nothing for no body.

    At most 64 KiB are read, for half of the `left_s` seconds and at most 5.
    """
    if encoding_of(response) not in BOUNDED_ENCODINGS:
        return ""
    return _quote(scrub(await _read_body(response, min(left_s / 2, MAX_BODY_S))))


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
    return text if is_whole else _without_last_word(text)


def _without_last_word(text: str) -> str:
    end = text[-MAX_SECRET_CHARS:]
    return text if not end.split() or end[-1].isspace() else text[: -len(end.split()[-1])]


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


_SECONDS = re.compile(r"\s*[0-9]{1,9}(?:\.[0-9]{1,9})?\s*")


def parse_retry_after(text: str | None, now: datetime, at_most_s: float = 60.0) -> float | None:
    """Return the seconds to wait, 0 to `at_most_s`: the header gives them, or the date when to come back.

    None for no header and for one that is neither. Source: RFC 9110, section 10.2.3.
    """
    if text is None:
        return None
    if _SECONDS.fullmatch(text):
        return min(float(text), at_most_s)
    try:
        date = parsedate_to_datetime(text)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return min(max((date - now).total_seconds(), 0.0), at_most_s)
    except (ValueError, OverflowError):
        return None


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
