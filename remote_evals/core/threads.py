"""Runs blocking functions in threads beside the event loop."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

_T = TypeVar("_T")


async def run_in_thread(function: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
    """Run a function in a thread of its own, and return what it returns or raise what it raises.

    The loop's shared threads are not used: functions that wait for each other would exhaust them, and one that hangs
    would keep the process from exiting. `StopIteration`, which no coroutine can raise, is raised as `RuntimeError`.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[_T | None, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: _T | None, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, error))

    def work() -> None:
        value: _T | None = None
        error: BaseException | None = None
        try:
            value = context.run(function, *args, **kwargs)
        except BaseException as raised:
            error = raised
        # Raised when the loop is closed: the caller has stopped waiting.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value, error)

    Thread(target=work, daemon=True).start()
    value, error = await done
    if isinstance(error, StopIteration):
        raise RuntimeError("it raised StopIteration, as `next` does at the end of its values") from error
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


async def run_without_joining_threads(main: Coroutine[Any, Any, _T]) -> _T:
    """Return what `main` returns, in a loop that does not wait for its threads when it closes.

    A thread may hang, for example in a DNS lookup, and must not delay the report.
    """
    asyncio.get_running_loop().set_default_executor(_DetachedExecutor())
    return await main


class _DetachedExecutor(ThreadPoolExecutor):
    """A thread pool whose shutdown waits for no thread."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)
