"""Whether a deployment is up, and is the expected build: asks for its health, which needs no token."""

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
from ..protocols.base import Protocol
from ..transport.failures import translate_errors
from ..transport.limits import Timers
from ..transport.responses import FailureReader
from .remote import RemoteTarget

MAX_HEALTH_S = 5.0
MAX_QUOTE_CHARS = 200

ANSWERS_IN_A_ROW = 3
BETWEEN_ANSWERS_S = 0.05
MIN_PAUSE_S, MAX_PAUSE_S = 0.25, 2.0
MAX_RETRY_AFTER_S = 10.0
# However little time is left: a deployment that answers within it is not reported as silent.
MIN_HEALTH_S = 1.0

# What a deployment, or a proxy before it, answers while it starts.
_NOT_YET = (404, 429, 502, 503, 504)

_IS_IT_DEPLOYED = "Check that the deploy is done and that its build sends this header, or wait longer by --wait"

_Pause = Callable[[float], Awaitable[None]]

_HEADERS = {
    "Accept-Encoding": "identity",
    # A cache may still hold the answer of the previous build.
    "Cache-Control": "no-cache",
}
_BROKE = "The deployment, or a proxy before it, broke off: look at its logs, and check the URL and port"
_SILENT = "The deployment, or the network on the way to it, does not answer"


@dataclass(frozen=True, slots=True)
class Health:
    """An answer of any status, whose headers came after `elapsed_ms`.

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

    Enters the target. Raises `RemoteError`, without a cause, if no answer comes within `limit_s` seconds.
    """
    url, scrub = join_url(target.url, target.protocol.health.path), target.redactor.scrub
    async with target:
        try:
            return await translate_errors(
                lambda timers: _ask(target, url, limit_s, timers), url, None, at_first="before it answered"
            )
        except RemoteError as failure:
            restated = _restate_failure(failure)
    restated.rewrite(lambda happened: make_printable(scrub(happened), MAX_QUOTE_CHARS))
    raise restated


async def _ask(target: RemoteTarget, url: str, limit_s: float, timers: Timers) -> Health:
    timers.start("headers", limit_s)
    request, started, shown = target.protocol.health, time.perf_counter(), show_url(url)
    headers = {"Accept": request.accept, **_HEADERS}
    async with aclosing(await target.client.send(request.method, url, headers, token=None)) as response:
        elapsed_ms = (time.perf_counter() - started) * 1000
        protocol, scrub = target.protocol, target.redactor.scrub
        failures = FailureReader(shown, scrub, protocol.advise, protocol.read_refusal, target.sizes.quote_bytes)
        found = None if response.is_success else await failures.read(response, timers.left_s)
        failure = _restate_status(found, response, target.protocol) if found else None
        return Health(shown, response.status_code, dict(response.headers), elapsed_ms, failure)


def _restate_status(failure: RemoteError, response: httpx.Response, protocol: Protocol) -> RemoteStatusError:
    """Return what a status means here, where no token was sent except in the target's own headers."""
    status = response.status_code
    is_refused = status == 401 and "authorization" in response.request.headers
    advice = failure.advice if response.is_redirect or is_refused else _advise(status, failure.url, protocol)
    restated = RemoteStatusError(failure.url, make_printable(failure.happened, MAX_QUOTE_CHARS), advice, status)
    restated.retry_after_s = failure.retry_after_s
    return restated


def _advise(status: int, url: str, protocol: Protocol) -> str:
    if better := protocol.advise(status, url):
        return better
    path = protocol.health.path
    match status:
        case 401 | 403:
            return f"{path} is asked without the token: let it answer without, or give what a proxy wants by --header"
        case 404:
            return f"Check the URL, and that the deployment answers GET {path}"
        case 429:
            return "The deployment, or a proxy before it, limits how often it may be asked"
    return "Check the deployment's logs" if status >= 500 else f"Give the deployment's base URL: {path} is added"


def _restate_failure(failure: RemoteError) -> RemoteError:
    """Return an error in words that do not speak of a turn and its stream."""
    match failure:
        case RemoteTimeoutError():
            return RemoteTimeoutError(failure.url, failure.happened, _SILENT, failure.clock, None)
        case RemoteStreamError():
            return RemoteStreamError(failure.url, failure.happened, _BROKE)
    failure.__cause__ = None
    return failure


async def wait_until_ready(
    target: RemoteTarget, wait_s: float, expected_headers: Mapping[str, str], *, pause: _Pause = asyncio.sleep
) -> None:
    """Ask for the health until the answer is a 2xx with `expected_headers`, for `wait_s` seconds; once if that is 0.

    Header names match in any case, values without surrounding space. While builds change, old and new answer in turn:
    with expected headers, 3 answers in a row must have them, each over a connection of its own. What may pass is asked
    again after a `pause`: no connection or answer, 404, 429, 502, 503, 504, another build. Raises `NotReadyError` when
    the time is over, and `RemoteStatusError` at once for any other status.
    """
    async with target:
        await _Wait(target, wait_s, expected_headers).run(pause)


@dataclass(frozen=True, slots=True)
class _NotYet:
    """Why an answer is not the expected one, and after how many seconds the deployment wants to be asked again."""

    happened: str
    advice: str
    retry_after_s: float | None = None


class _Wait:
    """One wait: how often it asked, and what came back."""

    def __init__(self, target: RemoteTarget, wait_s: float, expected_headers: Mapping[str, str]) -> None:
        self._target = target
        self._wait_s = wait_s
        self._expected = {name: value.strip() for name, value in expected_headers.items()}
        self._now = asyncio.get_running_loop().time
        self._start = self._now()
        self._asked = self._good = 0
        self._backoff_s = MIN_PAUSE_S

    async def run(self, pause: _Pause) -> None:
        """Ask until enough answers in a row are as expected; a row that began in time may end after it."""
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
        """Ask once. Raises `RemoteStatusError` for an answer that waiting will not change."""
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
        """Return the seconds until the next request; the last one is sent when the time is over."""
        if not_yet.retry_after_s is not None:
            wanted_s = min(max(not_yet.retry_after_s, MIN_PAUSE_S), MAX_RETRY_AFTER_S)
        else:
            wanted_s = self._backoff_s + random.uniform(0, MIN_PAUSE_S)  # noqa: S311 - not a secret
            self._backoff_s = min(2 * self._backoff_s, MAX_PAUSE_S - MIN_PAUSE_S)
        return min(wanted_s, self._left_s)

    def _not_ready(self, not_yet: _NotYet) -> NotReadyError:
        url = show_url(join_url(self._target.url, self._target.protocol.health.path))
        asked = f"not ready after {render_duration(self._now() - self._start)}, asked {self._asked} time(s)"
        mixed = f", though {self._good} answer(s) were as expected" if self._good else ""
        return NotReadyError(url, f"{asked}, the last time: {not_yet.happened}{mixed}", not_yet.advice)


def _check_status(failure: RemoteStatusError) -> _NotYet:
    """Return why to ask again. Raises the failure itself if that would change nothing."""
    if failure.status not in _NOT_YET:
        raise failure
    advice = f"{failure.advice}, or wait longer by --wait" if failure.status >= 500 else failure.advice
    return _NotYet(failure.happened, advice, failure.retry_after_s)
