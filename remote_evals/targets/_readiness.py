"""Whether a deployment is up, and is the build that is awaited."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_exponential, wait_random

from ..durations import render_duration
from ..errors import NotReadyError, RemoteError, RemoteStatusError
from ..urls import join_url, show_url
from ._health import MAX_HEALTH_S, Health, make_printable, read_health
from .remote import RemoteTarget

ANSWERS_IN_A_ROW = 3
BETWEEN_ANSWERS_S = 0.05
MIN_PAUSE_S, MAX_PAUSE_S = 0.25, 2.0
MAX_RETRY_AFTER_S = 10.0
# However little is left: what answers within it is not told to be silent.
MIN_HEALTH_S = 1.0

# What a deployment answers while it starts, or a proxy before it.
_NOT_YET = (404, 429, 502, 503, 504)

_IS_IT_DEPLOYED = "Check that the deploy is done and that its build sends this header, or wait longer by --wait"

_backoff = wait_exponential(multiplier=MIN_PAUSE_S, max=MAX_PAUSE_S - MIN_PAUSE_S) + wait_random(0, MIN_PAUSE_S)


async def wait_until_ready(
    target: RemoteTarget,
    wait_s: float,
    expected_headers: Mapping[str, str],
    *,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Ask `GET /health` until it answers with a 2xx and `expected_headers`, for `wait_s` seconds; once for 0.

    Names are compared in any case, values without the space around them. While builds change, old and new answer in
    turns: with expected headers, 3 answers in a row must have them, each over a connection of its own. What may pass
    is asked again after a `pause`: no connection or answer, 404, 429, 502, 503, 504, another build. Raises
    `NotReadyError` when the time is over, and at once `RemoteStatusError` for any other status.
    """
    async with target:
        watch = _Watch(target, wait_s, expected_headers)
        await AsyncRetrying(
            sleep=pause,
            wait=watch.choose_pause,
            stop=watch.is_over,
            retry=retry_if_result(watch.must_ask_again),
            retry_error_callback=watch.give_up,
        )(watch.ask)


@dataclass(frozen=True, slots=True)
class _NotYet:
    """Why an answer is not the one that is awaited, and after how many seconds it wants to be asked again."""

    happened: str
    advice: str
    retry_after_s: float | None = None


class _Watch:
    """One wait: what was asked so far, and what came of it."""

    def __init__(self, target: RemoteTarget, wait_s: float, expected_headers: Mapping[str, str]) -> None:
        self._target = target
        self._wait_s = wait_s
        self._expected = {name: value.strip() for name, value in expected_headers.items()}
        self._now = asyncio.get_running_loop().time
        self._start = self._now()
        self._asked = self._good = self._good_in_a_row = 0

    @property
    def _left_s(self) -> float:
        return max(self._start + self._wait_s - self._now(), 0.0)

    async def ask(self) -> _NotYet | None:
        """Ask once. Raises `RemoteStatusError` for an answer that waiting does not change."""
        self._asked += 1
        not_yet = await self._ask()
        self._good += not_yet is None
        self._good_in_a_row = self._good_in_a_row + 1 if not_yet is None else 0
        return not_yet

    def must_ask_again(self, not_yet: _NotYet | None) -> bool:
        """Say whether the answers so far leave it open."""
        return not_yet is not None or self._good_in_a_row < (ANSWERS_IN_A_ROW if self._expected else 1)

    def choose_pause(self, state: RetryCallState) -> float:
        """Return the seconds until the next request: the last one is sent when the time is over."""
        not_yet = _latest(state)
        if not_yet is None:
            return BETWEEN_ANSWERS_S
        asked_s = not_yet.retry_after_s
        wanted_s = _backoff(state) if asked_s is None else min(max(asked_s, MIN_PAUSE_S), MAX_RETRY_AFTER_S)
        return min(wanted_s, self._left_s)

    def is_over(self, state: RetryCallState) -> bool:
        """Say whether the time is; what was begun well is seen through."""
        return _latest(state) is not None and self._left_s == 0

    def give_up(self, state: RetryCallState) -> None:
        """Raise `NotReadyError`."""
        not_yet = _latest(state)
        assert not_yet  # noqa: S101 - it is not over after a good answer
        url = show_url(join_url(self._target.url, "/health"))
        waited = render_duration(self._now() - self._start)
        mixed = f", though {self._good} answer(s) were as awaited" if self._good else ""
        happened = f"not ready after {waited}, asked {self._asked} time(s): {not_yet.happened}{mixed}"
        raise NotReadyError(url, happened, not_yet.advice)

    async def _ask(self) -> _NotYet | None:
        limit_s = max(self._left_s, MIN_HEALTH_S) if self._wait_s else MAX_HEALTH_S
        try:
            health = await read_health(self._target, min(limit_s, MAX_HEALTH_S))
        except RemoteError as failure:
            return _NotYet(failure.happened, failure.advice)
        if health.failure is None:
            return self._compare(health)
        if health.status not in _NOT_YET:
            raise health.failure
        return _explain(health.status, health.failure)

    def _compare(self, health: Health) -> _NotYet | None:
        scrub = self._target.redactor.scrub
        for name, expected in self._expected.items():
            actual = health.headers.get(name.lower())
            if actual is None or actual.strip() != expected:
                shown = "missing" if actual is None else repr(make_printable(scrub(actual.strip())))
                return _NotYet(f"{name} was {shown}, not {scrub(expected)!r}", _IS_IT_DEPLOYED)
        return None


def _explain(status: int, failure: RemoteStatusError) -> _NotYet:
    happened = failure.happened.replace("the answer was", "the last answer was", 1)
    advice = f"{failure.advice}, or wait longer by --wait" if status >= 500 else failure.advice
    return _NotYet(happened, advice, failure.retry_after_s)


def _latest(state: RetryCallState) -> _NotYet | None:
    assert state.outcome  # noqa: S101 - tenacity asks only after an attempt
    not_yet: _NotYet | None = state.outcome.result()
    return not_yet
