"""What an answer means that is not the expected one: rejected credentials, an error status, a redirect, a page.

Of its body a message quotes the start, within bounds.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from ..core.text import make_printable
from ..errors import Refusal, RemoteError, RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError
from .failures import LIBRARY_ERRORS
from .limits import SizeLimits

MAX_BODY_S = 5.0
MAX_TEXT_CHARS = 300
MAX_CODE_CHARS = 80
MAX_SECRET_CHARS = 4096
MAX_ENCODING_CHARS = 40

# Their decoders let a small answer grow about a thousandfold at most.
BOUNDED_ENCODINGS = ("", "identity", "gzip", "deflate")

EVENT_STREAM = "text/event-stream"

_SECONDS = re.compile(r"\s*[0-9]{1,9}(?:\.[0-9]{1,9})?\s*")

_ADVICE = {
    413: "The prompt is larger than the deployment takes",
    429: "The deployment limits how often it may be called: try a lower --concurrency",
    502: "The proxy before the agent could not reach it, or got no answer from it: check that it runs",
    503: "The deployment takes no requests now: check that it runs, and see --wait",
    504: "The proxy before the agent gave up waiting, the agent may go on: raise the proxy's read timeout",
}

Advise = Callable[[int, str], str | None]
"""Returns what a protocol advises after a status from a URL, or None if it knows no better than HTTP."""


class FailureReader:
    """Explains answers to the requests of one URL, which is shown as `url`.

    `advise` and `read_refusal` are those of the deployment's protocol. `scrub` removes secrets from what is quoted;
    `quote_bytes` is how much of a body is read for that.
    """

    def __init__(
        self,
        url: str,
        scrub: Callable[[str], str],
        advise: Advise,
        read_refusal: Callable[[str], Refusal],
        quote_bytes: int = SizeLimits().quote_bytes,
    ) -> None:
        self._url = url
        self._scrub = scrub
        self._advise = advise
        self._read_refusal = read_refusal
        self._quote_bytes = quote_bytes

    async def read(self, response: httpx.Response, left_s: float, expected: str = EVENT_STREAM) -> RemoteError | None:
        """Return what is wrong with an answer before its body is read, or None for a 2xx of the `expected` type.

        Of the body at most `quote_bytes` are read, for half of the `left_s` seconds and at most 5, and at most 300
        characters are quoted, on one line.
        """
        kind, encoding = get_media_type(response), _get_encoding(response)
        if response.is_success and kind == expected:
            return None if encoding in BOUNDED_ENCODINGS else self._explain_compression(encoding)
        if response.has_redirect_location:
            return self._explain_redirect(response)
        refusal, text = await self._read_body(response, left_s)
        if response.is_success:
            wanted = "an event stream" if expected == EVENT_STREAM else expected
            happened = f"the answer is {kind or 'of no type'}, not {wanted}{text}"
            advice = "The URL may be that of a page, or a proxy answers in the agent's place"
            return RemoteStreamError(self._url, happened, advice)
        is_rejected = response.status_code in (401, 403) and not refusal.accepts_token
        explain = self._explain_rejection if is_rejected else self._explain_status
        failure = explain(response, text, refusal.advice)
        failure.deployment_code = _shorten_code(refusal.code)
        return failure

    def _explain_compression(self, encoding: str) -> RemoteError:
        shown = self._scrub(encoding)[:MAX_ENCODING_CHARS]
        happened = f"the stream is compressed as {shown!r}, which was not asked for"
        return RemoteStreamError(self._url, happened, "A proxy compresses it: let it leave event streams alone")

    def _explain_rejection(self, response: httpx.Response, text: str, better_advice: str | None) -> RemoteError:
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
            happened, advice = (
                "a token is needed and none was sent",
                "Give one by --token-env NAME or REMOTE_EVALS_TOKEN",
            )
        status = response.status_code
        return RemoteUnauthorizedError(self._url, f"{happened} ({status}{text})", better_advice or advice, status)

    def _explain_status(self, response: httpx.Response, text: str, better_advice: str | None) -> RemoteError:
        status = response.status_code
        advice = better_advice or self._find_advice(status, text)
        error = RemoteStatusError(self._url, f"the answer was {status}{text}", advice, status)
        error.retry_after_s = parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
        return error

    def _find_advice(self, status: int, text: str) -> str:
        if status == 400 and self._url.startswith("http:") and "HTTPS" in text:
            return "This port speaks TLS: write the URL with https://"
        default = "Check the deployment's logs" if status >= 500 else "Check the URL and what the deployment expects"
        return self._advise(status, self._url) or _ADVICE.get(status, default)

    def _explain_redirect(self, response: httpx.Response) -> RemoteError:
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
        return RemoteStatusError(self._url, happened, f"Redirects are not followed: {advice}", response.status_code)

    async def _read_body(self, response: httpx.Response, left_s: float) -> tuple[Refusal, str]:
        """Return what a body says, and it as a message quotes it; nothing of an empty or oddly encoded one."""
        if _get_encoding(response) not in BOUNDED_ENCODINGS:
            return Refusal(), ""
        body = self._scrub(await _read_start(response, self._quote_bytes, min(left_s / 2, MAX_BODY_S)))
        refusal = self._read_refusal(body)
        return refusal, _quote(body if refusal.text is None else refusal.text, _shorten_code(refusal.code))


def get_media_type(response: httpx.Response) -> str:
    """Return the content type in lower case without its parameters, empty for none."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def parse_retry_after(text: str | None, now: datetime, at_most_s: float = 60.0) -> float | None:
    """Return the seconds to wait, 0 to `at_most_s`, that a Retry-After header gives, or None if it gives none.

    The header holds seconds or a date. Source: RFC 9110, section 10.2.3.
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


def _get_encoding(response: httpx.Response) -> str:
    return str(response.headers.get("content-encoding", "")).strip().lower()


async def _read_start(response: httpx.Response, limit_bytes: int, limit_s: float) -> str:
    """Return the start of a body, as far as it comes: the status is known, and a body that hangs does not change it."""
    body, is_complete = bytearray(), False
    with suppress(*LIBRARY_ERRORS):
        async with asyncio.timeout(limit_s):
            async for part in response.aiter_bytes():
                body += part
                if len(body) >= limit_bytes:
                    break
            else:
                is_complete = True
    text = body[:limit_bytes].decode("utf-8", "replace")
    # The last word of a body that was not read to its end may be half a secret, which no redactor knows.
    return text if is_complete else _drop_last_word(text)


def _drop_last_word(text: str) -> str:
    end = text[-MAX_SECRET_CHARS:]
    return text if not end.split() or end[-1].isspace() else text[: -len(end.split()[-1])]


def _quote(said: str, code: str | None) -> str:
    """Return `: `, the start of what was said on one line, and ` [CODE]`; nothing for nothing."""
    text = " ".join(said.split())
    shown = text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1]}…"
    parts = [part for part in (shown, f"[{code}]" if code else "") if part]
    return f": {' '.join(parts)}" if parts else ""


def _shorten_code(code: str | None) -> str | None:
    return make_printable(code, MAX_CODE_CHARS) if code else None
