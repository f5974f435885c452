"""Requests to a judge's endpoint: sent again after some failures, and their answers read.

A request is sent again after a transport fault, and after a 429 that says when; never for a better verdict. Only frames
of this module hold headers with the key. The answer is a chat completion of an OpenAI-compatible endpoint: the text,
how it ended, and what it cost.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt, wait_exponential

from ..core.durations import render_duration
from ..core.urls import show_url
from ..errors import JudgeError, JudgeUnreachableError
from ..redaction import Secret
from ..results import JudgeUsage
from ..transport.client import HttpClient
from ..transport.failures import LIBRARY_ERRORS, drop_tracebacks, keep_cause, translate
from ..transport.responses import parse_retry_after
from .base import to_one_line

MAX_ATTEMPTS = 3
MAX_BODY_BYTES = 1024 * 1024

_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json"}
_CHECK_URL = "Check that the judge is up, and that its URL is right"
_CHECK_KEY = "Check that the judge's API key is set, current and meant for this URL"
_ADVICE = {
    400: "Check the judge's model and settings: some models reject temperature=0 and need None",
    401: _CHECK_KEY,
    403: _CHECK_KEY,
    404: "Check the judge's URL and model",
    429: "The judge limits how often it may be called: try a lower --concurrency",
}

_backoff = wait_exponential(multiplier=0.3, max=5)


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model said; `was_cut` means that it hit its token limit."""

    text: str
    was_cut: bool
    usage: JudgeUsage


@dataclass(frozen=True, slots=True)
class JudgeAttempt:
    """The outcome of one request: a completion, or an error and whether, and after how many seconds, to try again."""

    completion: Completion | None = None
    error: JudgeError | None = None
    may_retry: bool = False
    retry_after_s: float | None = None


async def send_with_retries(send: Callable[[], Awaitable[JudgeAttempt]]) -> JudgeAttempt:
    """Return the first attempt that is final, or the last one."""
    retrying = AsyncRetrying(
        stop=stop_after_attempt(MAX_ATTEMPTS),
        wait=_get_wait_s,
        retry=retry_if_result(lambda attempt: attempt.may_retry),
        retry_error_callback=_get_last_attempt,
    )
    attempt: JudgeAttempt = await retrying(send)
    return attempt


def _get_wait_s(state: RetryCallState) -> float:
    after_s = _get_last_attempt(state).retry_after_s
    return _backoff(state) if after_s is None else after_s


def _get_last_attempt(state: RetryCallState) -> JudgeAttempt:
    assert state.outcome  # noqa: S101 - tenacity asks only after an attempt
    attempt: JudgeAttempt = state.outcome.result()
    return attempt


class JudgeRequest:
    """A request that can be sent several times; `scrub` removes secrets from what the judge says."""

    def __init__(self, url: str, key: Secret | None, timeout_s: float, scrub: Callable[[str], str]) -> None:
        self._url = url
        self._shown = show_url(url)
        self._key = key
        self._timeout_s = timeout_s
        self._scrub = scrub

    async def send(self, client: HttpClient, body: Mapping[str, Any]) -> JudgeAttempt:
        """Send the request once; raises nothing but a cancellation."""
        try:
            async with asyncio.timeout(self._timeout_s or None):
                return await self._post(client, body)
        except TimeoutError:
            # Not sent again: that would exceed the limit that was set.
            happened = f"timed out: no whole answer within {render_duration(self._timeout_s)}"
            return JudgeAttempt(
                error=JudgeUnreachableError(self._shown, happened, f"{_CHECK_URL}, or give it more time")
            )
        except asyncio.CancelledError as cancelled:
            drop_tracebacks(cancelled)
            raise
        except LIBRARY_ERRORS as error:
            return self._make_transport_failure(error)

    async def _post(self, client: HttpClient, body: Mapping[str, Any]) -> JudgeAttempt:
        # ASCII, since a reply may contain lone surrogates, which UTF-8 cannot encode.
        sent = json.dumps(body).encode("ascii")
        async with aclosing(await client.send("POST", self._url, _HEADERS, self._key, sent)) as response:
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                if len(content) > MAX_BODY_BYTES:
                    return self._make_failure(
                        "the answer is larger than 1 MiB", "Check that the URL is that of a judge"
                    )
            return self._read(response, bytes(content))

    def _read(self, response: httpx.Response, content: bytes) -> JudgeAttempt:
        status = response.status_code
        if not response.is_success:
            default = "Check the judge's own status" if status >= 500 else "Check the judge's URL and settings"
            after_s = parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
            wait_s = after_s if status == 429 else None
            happened = f"the answer was {status}{_quote_error(content, self._scrub)}"
            return self._make_failure(happened, _ADVICE.get(status, default), wait_s)
        completion = _parse_completion(content)
        if completion is None:
            kind = to_one_line(self._scrub(response.headers.get("content-type", "").partition(";")[0])) or "of no type"
            happened = f"the answer ({kind}) is not a chat completion{_quote_error(content, self._scrub)}"
            return self._make_failure(happened, "Check that the URL is that of an OpenAI-compatible endpoint")
        return JudgeAttempt(completion)

    def _make_failure(self, happened: str, advice: str, wait_s: float | None = None) -> JudgeAttempt:
        error = JudgeError(self._shown, happened, advice)
        return JudgeAttempt(error=error, may_retry=wait_s is not None, retry_after_s=wait_s)

    def _make_transport_failure(self, error: Exception) -> JudgeAttempt:
        known = translate(error, self._shown, "before the answer was whole")
        failure = JudgeUnreachableError(self._shown, self._scrub(known.happened), _CHECK_URL)
        failure.__cause__ = keep_cause(drop_tracebacks(error), self._scrub)
        return JudgeAttempt(error=failure, may_retry=True)


def _parse_completion(content: bytes) -> Completion | None:
    """Return the first choice of a chat completion, or None if the content is not one."""
    body = _parse_json(content)
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return None
    text = _join_text(message.get("content")) or _join_text(message.get("refusal"))
    return Completion(text, choice.get("finish_reason") == "length", _parse_usage(body.get("usage")))


def _parse_json(body: bytes) -> Any:
    """Return the JSON of a body, or None if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _join_text(content: Any) -> str:
    """Return the text of a message's content, which is a string or a list of parts."""
    if isinstance(content, list):
        return "".join(_join_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _parse_usage(usage: Any) -> JudgeUsage:
    fields = usage if isinstance(usage, Mapping) else {}
    sent, made = _get_count(fields, "prompt_tokens"), _get_count(fields, "completion_tokens")
    # OpenRouter and LiteLLM report the price; OpenAI does not.
    cost = next((fields[key] for key in ("cost", "cost_usd") if _is_amount(fields.get(key))), None)
    total = _get_count(fields, "total_tokens") or sent + made
    return JudgeUsage(input_tokens=sent, output_tokens=made, total_tokens=total, cost_usd=cost, calls=1)


def _get_count(fields: Mapping[str, Any], key: str) -> int:
    number: Any = fields.get(key)
    return int(number) if _is_amount(number) else 0


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15


def _quote_error(body: bytes, scrub: Callable[[str], str]) -> str:
    """Return `: ` and the error message of an endpoint, or the start of its body; an empty text for no body.

    It is scrubbed, and one line of at most 300 characters.
    """
    parsed = _parse_json(body)
    error = parsed.get("error") if isinstance(parsed, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    # Scrubbed before it is cut: half a secret is a secret too.
    line = to_one_line(scrub(message if isinstance(message, str) else body.decode("utf-8", "replace")))
    return f": {line}" if line else ""
