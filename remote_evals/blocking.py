"""Tests that are plain functions: they run in a thread, with a `t` whose waits block."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from .context import EvalContext
from .threads import run_in_thread


class BlockingContext:
    """A `t` for plain functions: all of an `EvalContext`, but that nothing needs `await`."""

    def __init__(self, t: EvalContext, loop: asyncio.AbstractEventLoop) -> None:
        self._t = t
        self._loop = loop
        self._is_closed = False

    def close(self) -> None:
        """Let nothing more be sent: a thread cannot be ended, and a test that was given up must not act on."""
        self._is_closed = True

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._t, name)
        return self._blocking(value) if inspect.iscoroutinefunction(inspect.unwrap(value)) else value

    def _blocking(self, function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        @wraps(function)
        def wait(*args: Any, **kwargs: Any) -> Any:
            if self._is_closed:
                raise RuntimeError("the case is over, so nothing more is sent")

            async def run() -> Any:
                return await function(*args, **kwargs)

            return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

        return wait


async def run_function(test: Callable[..., Any], t: EvalContext, *args: Any) -> None:
    """Run a test, async or plain, with its `t` and whatever else it takes."""
    if inspect.iscoroutinefunction(test) or inspect.iscoroutinefunction(inspect.unwrap(test)):
        await test(t, *args)
        return
    blocking = BlockingContext(t, asyncio.get_running_loop())
    try:
        await run_in_thread(test, blocking, *args)
    finally:
        blocking.close()
