"""Runs a request so that nothing but this package's errors comes out of it, and no frame that holds a secret."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..errors import RemoteError
from ..urls import show_url
from ._clocks import ClockExpiredError, Clocks, Deadline
from ._failures import LIBRARY_ERRORS, forget_frames, timed_out, translate

_T = TypeVar("_T")
_Action = Callable[[Clocks], Awaitable[_T | RemoteError]]


async def run_guarded(
    action: _Action[_T], url: str, deadline: Deadline | None, read_last_event: Callable[[], str | None] = lambda: None
) -> _T:
    """Return what `action` returns, under clocks that it starts.

    Raises `RemoteError` for one that it returns, for a clock that runs out, and for whatever the libraries raise. The
    errors, and a cancellation, leave the frames of the action behind: their locals hold headers and what was received.
    """
    try:
        outcome = await _attempt(action, show_url(url), deadline, read_last_event)
    except asyncio.CancelledError as cancelled:
        forget_frames(cancelled)
        raise
    if isinstance(outcome, RemoteError):
        raise outcome.with_traceback(None)
    return outcome


async def _attempt(
    action: _Action[_T], shown: str, deadline: Deadline | None, read_last_event: Callable[[], str | None]
) -> _T | RemoteError:
    try:
        async with Clocks(deadline) as clocks:
            return await action(clocks)
    except ClockExpiredError as expired:
        return timed_out(expired.clock, shown, read_last_event())
    except LIBRARY_ERRORS as error:
        failure = translate(error, shown, read_last_event())
        failure.__cause__ = forget_frames(error)
        return failure
