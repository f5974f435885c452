"""When a request is sent again: only where the deployment cannot have begun on it, since a turn may refund money."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp
import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential, wait_random

from ..errors import RemoteError, RemoteStatusError, RemoteUnreachableError
from ._causes import causes_of

_T = TypeVar("_T")

# Answers that stand for "not now": the request was turned away before any stream began.
_TURNED_AWAY = (429, 503)

pause = wait_exponential(multiplier=0.5, max=8) + wait_random(0, 0.5)


async def send_patiently(
    send: Callable[[], Awaitable[_T]],
    retries: int,
    left_s: Callable[[], float],
    count_retry: Callable[[], None] = lambda: None,
) -> _T:
    """Return what `send` returns, called at most `retries` times more, with `count_retry` before each of these.

    It waits as long as the deployment asks for by Retry-After, else longer each time, but never all of the `left_s`
    seconds that are left. Raises what the last attempt raised, which then says how many there were.
    """

    def is_last(state: RetryCallState) -> bool:
        return state.attempt_number > retries or state.upcoming_sleep >= left_s()

    retrying = AsyncRetrying(
        retry=retry_if_exception(cannot_have_begun),
        stop=is_last,
        wait=_wait,
        before_sleep=lambda _: count_retry(),
        reraise=True,
    )
    try:
        answer: _T = await retrying(send)
    except RemoteError as failure:
        if (attempts := retrying.statistics["attempt_number"]) > 1:
            failure.count_attempts(attempts)
        raise
    return answer


def cannot_have_begun(error: BaseException) -> bool:
    """Say whether a request that failed so was surely not acted on: no connection was made, or it was turned away."""
    if isinstance(error, RemoteStatusError):
        return error.status in _TURNED_AWAY and not error.may_have_begun
    return isinstance(error, RemoteUnreachableError) and not any(map(_will_not_mend, causes_of(error)))


def _will_not_mend(cause: BaseException) -> bool:
    """Say whether every further attempt would meet the same: a proxy that refuses, or a URL that is none."""
    refused = isinstance(cause, aiohttp.ClientHttpProxyError) and 400 <= cause.status < 500
    return refused or isinstance(cause, aiohttp.InvalidURL | httpx.InvalidURL | httpx.UnsupportedProtocol)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked_s = getattr(error, "retry_after_s", None)
    return pause(state) if asked_s is None else asked_s
