"""Runs a request so that nothing but this package's errors comes out of it, and no frame that holds a secret."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..core.urls import show_url
from ..errors import RemoteError
from ._broken_turns import timed_out
from ._causes import forget_frames
from ._clocks import ClockExpiredError, Clocks, Deadline
from ._failures import LIBRARY_ERRORS, translate

_T = TypeVar("_T")
_Action = Callable[[Clocks], Awaitable[_T | RemoteError]]


async def run_guarded(
    action: _Action[_T],
    url: str,
    deadline: Deadline | None,
    read_last_event: Callable[[], str | None] = lambda: None,
    *,
    at_first: str = "before the answer was whole",
) -> _T:
    """Return what `action` returns, under clocks that it starts; `at_first` says when it broke, before any event.

    Raises `RemoteError` for one that it returns, for a clock that runs out, and for whatever the libraries raise. The
    errors, and a cancellation, leave the frames of the action behind: their locals hold headers and what was received.
    """
    shown = show_url(url)
    # One function and no finer ones: of thousands of open streams, each frame is a part of the memory that counts.
    outcome: _T | RemoteError
    try:
        async with Clocks(deadline) as clocks:
            outcome = await action(clocks)
    except asyncio.CancelledError as cancelled:
        forget_frames(cancelled)
        raise
    except ClockExpiredError as expired:
        outcome = timed_out(expired.clock, shown, read_last_event())
    except LIBRARY_ERRORS as error:
        last_event = read_last_event()
        outcome = translate(error, shown, f"after {last_event}" if last_event else at_first)
        outcome.__cause__ = forget_frames(error)
    except Exception as error:
        # Of a transport that a caller made, say.
        forget_frames(error)
        raise
    if isinstance(outcome, RemoteError):
        raise outcome.with_traceback(None)
    return outcome
