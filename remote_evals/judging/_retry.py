"""When a judge is asked again: after a transport fault, and after a 429 that says when. Never for a better verdict."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt, wait_exponential

from ..errors import JudgeError
from ._completion import Completion

ATTEMPTS = 3

_backoff = wait_exponential(multiplier=0.3, max=5)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one request: a completion, or what went wrong and whether, and in how many seconds, to try again."""

    completion: Completion | None = None
    error: JudgeError | None = None
    may_retry: bool = False
    retry_after_s: float | None = None


async def ask_with_patience(ask: Callable[[], Awaitable[Attempt]]) -> Attempt:
    """Return the first attempt that is final, or the last one."""
    retrying = AsyncRetrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=_wait,
        retry=retry_if_result(lambda attempt: attempt.may_retry),
        retry_error_callback=_last,
    )
    attempt: Attempt = await retrying(ask)
    return attempt


def _wait(state: RetryCallState) -> float:
    after_s = _last(state).retry_after_s
    return _backoff(state) if after_s is None else after_s


def _last(state: RetryCallState) -> Attempt:
    assert state.outcome  # noqa: S101 - tenacity asks only after an attempt
    attempt: Attempt = state.outcome.result()
    return attempt
