"""Runs tests that are plain functions: in a thread, with a `t` whose calls block."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from ..core.threads import run_in_thread
from .context import EvalContext


class SyncEvalContext:
    """A `t` for plain functions: an `EvalContext` that needs no `await`."""

    def __init__(self, t: EvalContext, loop: asyncio.AbstractEventLoop) -> None:
        self._t = t
        self._loop = loop
        self._is_closed = False
        self._tasks: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """Cancel the calls in progress and refuse new ones: a thread cannot be ended, only what it waits for."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._t, name)
        return self.make_blocking(value) if inspect.iscoroutinefunction(inspect.unwrap(value)) else value

    def make_blocking(self, function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        """Return a function that waits for the async one, which runs in the event loop."""

        @wraps(function)
        def wait(*args: Any, **kwargs: Any) -> Any:
            self._check_open()

            async def run() -> Any:
                self._check_open()
                task = asyncio.current_task()
                assert task  # noqa: S101 - a running coroutine belongs to a task
                self._tasks.add(task)
                try:
                    return await function(*args, **kwargs)
                finally:
                    self._tasks.discard(task)

            return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

        return wait

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("the case is over, so nothing more is sent")


async def run_function(test: Callable[..., Any], t: EvalContext, *args: Any) -> None:
    """Run a test, async or plain, with its `t` and its other arguments."""
    if inspect.iscoroutinefunction(test) or inspect.iscoroutinefunction(inspect.unwrap(test)):
        await test(t, *args)
        return
    sync_t = SyncEvalContext(t, asyncio.get_running_loop())
    try:
        await run_in_thread(test, sync_t, *args)
    finally:
        await sync_t.close()
