"""One request to a judge's endpoint, and what its answer means. Only here do frames hold headers with the key."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import httpx

from ..core.durations import render_duration
from ..core.urls import show_url
from ..errors import JudgeError, JudgeUnreachableError
from ..redaction import Secret
from ..transport.client import Link
from ..transport.failures import LIBRARY_ERRORS, forget_frames, keep_cause, translate
from ..transport.responses import parse_retry_after
from ._completion import parse_completion, quote_error
from ._judge import one_line
from ._retry import Attempt

MAX_BODY_BYTES = 1024 * 1024

_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json"}
_IS_IT_UP = "Check that the judge is up, and its URL"
_KEY = "Check that the judge's API key is set, current and meant for this URL"
_ADVICE = {
    400: "Check the judge's model and settings: some models refuse temperature=0, and take None",
    401: _KEY,
    403: _KEY,
    404: "Check the judge's URL and model",
    429: "The judge limits how often it may be asked: try a lower --concurrency",
}


class Request:
    """A request that can be sent several times; `scrub` takes secrets out of what the far side says."""

    def __init__(self, url: str, key: Secret | None, timeout_s: float, scrub: Callable[[str], str]) -> None:
        self._url = url
        self._shown = show_url(url)
        self._key = key
        self._timeout_s = timeout_s
        self._scrub = scrub

    async def send(self, link: Link, body: Mapping[str, Any]) -> Attempt:
        """Send it once; never raises but for a cancellation."""
        try:
            async with asyncio.timeout(self._timeout_s or None):
                return await self._post(link, body)
        except TimeoutError:
            # Not tried again: whoever set the limit waited long enough.
            happened = f"timed out: no whole answer within {render_duration(self._timeout_s)}"
            return Attempt(error=JudgeUnreachableError(self._shown, happened, f"{_IS_IT_UP}, or give it more time"))
        except asyncio.CancelledError as cancelled:
            forget_frames(cancelled)
            raise
        except LIBRARY_ERRORS as error:
            return self._broke(error)

    async def _post(self, link: Link, body: Mapping[str, Any]) -> Attempt:
        # ASCII, since a reply may hold the lone surrogates that UTF-8 cannot.
        sent = json.dumps(body).encode("ascii")
        async with aclosing(await link.send("POST", self._url, _HEADERS, self._key, sent)) as response:
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                if len(content) > MAX_BODY_BYTES:
                    return self._failed("the answer is larger than 1 MiB", "Check that the URL is a judge's")
            return self._read(response, bytes(content))

    def _read(self, response: httpx.Response, content: bytes) -> Attempt:
        status = response.status_code
        if not response.is_success:
            default = "Check the judge's own status" if status >= 500 else "Check the judge's URL and settings"
            after_s = parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
            wait_s = after_s if status == 429 else None
            happened = f"the answer was {status}{quote_error(content, self._scrub)}"
            return self._failed(happened, _ADVICE.get(status, default), wait_s)
        completion = parse_completion(content)
        if completion is None:
            kind = one_line(self._scrub(response.headers.get("content-type", "").partition(";")[0])) or "of no type"
            happened = f"the answer ({kind}) is not a chat completion{quote_error(content, self._scrub)}"
            return self._failed(happened, "Check that the URL is that of an OpenAI-compatible endpoint")
        return Attempt(completion)

    def _failed(self, happened: str, advice: str, wait_s: float | None = None) -> Attempt:
        error = JudgeError(self._shown, happened, advice)
        return Attempt(error=error, may_retry=wait_s is not None, retry_after_s=wait_s)

    def _broke(self, error: Exception) -> Attempt:
        known = translate(error, self._shown, "before the answer was whole")
        failure = JudgeUnreachableError(self._shown, self._scrub(known.happened), _IS_IT_UP)
        failure.__cause__ = keep_cause(forget_frames(error), self._scrub)
        return Attempt(error=failure, may_retry=True)
