"""Tests that are plain functions: they run in a thread, with a `t` whose waits block."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from ..core.threads import run_in_thread
from .context import EvalContext


class SyncEvalContext:
    """A `t` for plain functions: all of an `EvalContext`, but that nothing needs `await`."""

    def __init__(self, t: EvalContext, loop: asyncio.AbstractEventLoop) -> None:
        self._t = t
        self._loop = loop
        self._is_closed = False
        self._waits: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """End what is under way and let nothing more be sent: a thread cannot be ended, only what it waits for."""
        self._is_closed = True
        for wait in self._waits:
            wait.cancel()
        if self._waits:
            await asyncio.wait(self._waits)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._t, name)
        return self._blocking(value) if inspect.iscoroutinefunction(inspect.unwrap(value)) else value

    def _blocking(self, function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        @wraps(function)
        def wait(*args: Any, **kwargs: Any) -> Any:
            self._check_open()

            async def run() -> Any:
                self._check_open()
                task = asyncio.current_task()
                assert task  # noqa: S101 - a coroutine that runs is that of a task
                self._waits.add(task)
                try:
                    return await function(*args, **kwargs)
                finally:
                    self._waits.discard(task)

            return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

        return wait

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("the case is over, so nothing more is sent")


async def run_function(test: Callable[..., Any], t: EvalContext, *args: Any) -> None:
    """Run a test, async or plain, with its `t` and whatever else it takes."""
    if inspect.iscoroutinefunction(test) or inspect.iscoroutinefunction(inspect.unwrap(test)):
        await test(t, *args)
        return
    blocking = SyncEvalContext(t, asyncio.get_running_loop())
    try:
        await run_in_thread(test, blocking, *args)
    finally:
        await blocking.close()
