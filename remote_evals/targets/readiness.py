"""What a deployment answers to `GET /health`, which never needs a token."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import httpx

from ..core.durations import render_duration
from ..core.text import make_printable
from ..core.urls import join_url, show_url
from ..errors import NotReadyError, RemoteError, RemoteStatusError, RemoteStreamError, RemoteTimeoutError
from ..transport.client import HttpClient
from ..transport.failures import translate_errors
from ..transport.limits import Timers
from ..transport.responses import read_failure
from .remote import RemoteTarget

MAX_HEALTH_S = 5.0
MAX_QUOTE_CHARS = 200

_HEADERS = {
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    # A cache may still know the build before.
    "Cache-Control": "no-cache",
}
_BROKE = "The deployment, or a proxy before it, broke off: look at its logs, and check the URL and port"
_SILENT = "The deployment, or the way to it, does not answer"
_ASKED_BARE = "/health is asked without the token: let it answer without, or give what a proxy wants by --header"
_ADVICE = {
    401: _ASKED_BARE,
    403: _ASKED_BARE,
    404: "Check the URL, and that the deployment answers GET /health",
    429: "The deployment, or a proxy before it, limits how often it may be asked",
}


@dataclass(frozen=True, slots=True)
class Health:
    """An answer of whatever status, whose headers came after `elapsed_ms`.

    `url` has no query. `headers` has its names in lower case and is as the deployment sent it: scrub what you quote.
    `failure` says what another status than 2xx means, already scrubbed; None for a 2xx.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    elapsed_ms: float
    failure: RemoteStatusError | None


async def read_health(target: RemoteTarget, limit_s: float = MAX_HEALTH_S) -> Health:
    """Ask once, with the target's own headers and without its token, over a connection of its own.

    Enters the target. Raises `RemoteError`, without a cause, when no answer comes within `limit_s` seconds.
    """
    url, scrub = join_url(target.url, "/health"), target.redactor.scrub
    async with target:
        link = target.link
        try:
            return await translate_errors(
                lambda clocks: _ask(link, url, limit_s, scrub, clocks), url, None, at_first="before it answered"
            )
        except RemoteError as failure:
            restated = _restate_failure(failure)
    restated.rewrite(lambda happened: make_printable(scrub(happened), MAX_QUOTE_CHARS))
    raise restated


async def _ask(link: HttpClient, url: str, limit_s: float, scrub: Callable[[str], str], clocks: Timers) -> Health:
    clocks.start("headers", limit_s)
    started, shown = time.perf_counter(), show_url(url)
    async with aclosing(await link.send("GET", url, _HEADERS, token=None)) as response:
        elapsed_ms = (time.perf_counter() - started) * 1000
        found = None if response.is_success else await read_failure(response, shown, scrub, clocks.left_s)
        failure = _restate_status(found, response) if found else None
        return Health(shown, response.status_code, dict(response.headers), elapsed_ms, failure)


def _restate_status(failure: RemoteError, response: httpx.Response) -> RemoteStatusError:
    """Return what a status means here, where no token was sent but one that stands in the target's own headers."""
    status = response.status_code
    is_refused = status == 401 and "authorization" in response.request.headers
    advice = failure.advice if response.is_redirect or is_refused else _advise(status, failure.url)
    restated = RemoteStatusError(failure.url, make_printable(failure.happened, MAX_QUOTE_CHARS), advice, status)
    restated.retry_after_s = failure.retry_after_s
    return restated


def _advise(status: int, url: str) -> str:
    added = next((path for path in ("/chat", "/health") if url.endswith(f"{path}/health")), None)
    if status == 404 and added:
        return f"Leave {added} off the URL: it is added"
    default = "Check the deployment's logs" if status >= 500 else "Give the deployment's base URL: /health is added"
    return _ADVICE.get(status, default)


def _restate_failure(failure: RemoteError) -> RemoteError:
    """Return an error in words that are not of a turn and its stream."""
    match failure:
        case RemoteTimeoutError():
            return RemoteTimeoutError(failure.url, failure.happened, _SILENT, failure.clock, None)
        case RemoteStreamError():
            return RemoteStreamError(failure.url, failure.happened, _BROKE)
    failure.__cause__ = None
    return failure


ANSWERS_IN_A_ROW = 3
BETWEEN_ANSWERS_S = 0.05
MIN_PAUSE_S, MAX_PAUSE_S = 0.25, 2.0
MAX_RETRY_AFTER_S = 10.0
# However little is left: what answers within it is not told to be silent.
MIN_HEALTH_S = 1.0

# What a deployment answers while it starts, or a proxy before it.
_NOT_YET = (404, 429, 502, 503, 504)

_IS_IT_DEPLOYED = "Check that the deploy is done and that its build sends this header, or wait longer by --wait"

_Pause = Callable[[float], Awaitable[None]]


async def wait_until_ready(
    target: RemoteTarget, wait_s: float, expected_headers: Mapping[str, str], *, pause: _Pause = asyncio.sleep
) -> None:
    """Ask `GET /health` until it answers with a 2xx and `expected_headers`, for `wait_s` seconds; once for 0.

    Names are compared in any case, values without the space around them. While builds change, old and new answer in
    turns: with expected headers, 3 answers in a row must have them, each over a connection of its own. What may pass
    is asked again after a `pause`: no connection or answer, 404, 429, 502, 503, 504, another build. Raises
    `NotReadyError` when the time is over, and at once `RemoteStatusError` for any other status.
    """
    async with target:
        await _Wait(target, wait_s, expected_headers).run(pause)


@dataclass(frozen=True, slots=True)
class _NotYet:
    """Why an answer is not the one that is awaited, and after how many seconds it wants to be asked again."""

    happened: str
    advice: str
    retry_after_s: float | None = None


class _Wait:
    """One wait: what was asked so far, and what came of it."""

    def __init__(self, target: RemoteTarget, wait_s: float, expected_headers: Mapping[str, str]) -> None:
        self._target = target
        self._wait_s = wait_s
        self._expected = {name: value.strip() for name, value in expected_headers.items()}
        self._now = asyncio.get_running_loop().time
        self._start = self._now()
        self._asked = self._good = 0
        self._backoff_s = MIN_PAUSE_S

    async def run(self, pause: _Pause) -> None:
        """Ask until enough answers in a row are as awaited; what was begun well is seen through, whatever the time."""
        needed, in_a_row = ANSWERS_IN_A_ROW if self._expected else 1, 0
        while True:
            not_yet = await self._ask()
            if not_yet is None:
                in_a_row += 1
                if in_a_row == needed:
                    return
                await pause(BETWEEN_ANSWERS_S)
            elif self._left_s:
                in_a_row = 0
                await pause(self._choose_pause_s(not_yet))
            else:
                raise self._not_ready(not_yet)

    @property
    def _left_s(self) -> float:
        return max(self._start + self._wait_s - self._now(), 0.0)

    async def _ask(self) -> _NotYet | None:
        """Ask once. Raises `RemoteStatusError` for an answer that waiting does not change."""
        limit_s = max(self._left_s, MIN_HEALTH_S) if self._wait_s else MAX_HEALTH_S
        self._asked += 1
        try:
            health = await read_health(self._target, min(limit_s, MAX_HEALTH_S))
        except RemoteError as failure:
            return _NotYet(failure.happened, failure.advice)
        not_yet = _check_status(health.failure) if health.failure else self._check_headers(health.headers)
        self._good += not_yet is None
        return not_yet

    def _check_headers(self, actual: Mapping[str, str]) -> _NotYet | None:
        scrub = self._target.redactor.scrub
        for name, expected in self._expected.items():
            value = actual.get(name.lower())
            if value is None or value.strip() != expected:
                shown = "missing" if value is None else repr(make_printable(scrub(value.strip()), MAX_QUOTE_CHARS))
                return _NotYet(f"{name} was {shown}, not {scrub(expected)!r}", _IS_IT_DEPLOYED)
        return None

    def _choose_pause_s(self, not_yet: _NotYet) -> float:
        """Return the seconds until the next request: the last one is sent when the time is over."""
        if not_yet.retry_after_s is not None:
            wanted_s = min(max(not_yet.retry_after_s, MIN_PAUSE_S), MAX_RETRY_AFTER_S)
        else:
            wanted_s = self._backoff_s + random.uniform(0, MIN_PAUSE_S)  # noqa: S311 - nothing hangs on who guesses it
            self._backoff_s = min(2 * self._backoff_s, MAX_PAUSE_S - MIN_PAUSE_S)
        return min(wanted_s, self._left_s)

    def _not_ready(self, not_yet: _NotYet) -> NotReadyError:
        url = show_url(join_url(self._target.url, "/health"))
        asked = f"not ready after {render_duration(self._now() - self._start)}, asked {self._asked} time(s)"
        mixed = f", though {self._good} answer(s) were as awaited" if self._good else ""
        return NotReadyError(url, f"{asked}, the last time: {not_yet.happened}{mixed}", not_yet.advice)


def _check_status(failure: RemoteStatusError) -> _NotYet:
    """Say why to ask again. Raises the failure itself where that changes nothing."""
    if failure.status not in _NOT_YET:
        raise failure
    advice = f"{failure.advice}, or wait longer by --wait" if failure.status >= 500 else failure.advice
    return _NotYet(failure.happened, advice, failure.retry_after_s)
