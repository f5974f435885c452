"""Ctrl-C and SIGTERM: the first lets what is done be reported, the second ends the process."""

import _thread
import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import typer

from ..core.threads import run_without_joining_threads
from ..evals.eval import Eval
from ..results import EvalReport
from ..running.runner import EvalRunner
from .exits import UNJUDGED, exit_code_of, tell

# Not every system has SIGTERM.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM") if hasattr(signal, name)]
_GRACE_S = 1.0


class Interrupts:
    """Which signal came first, None as long as none did; it ends the process unless `handled_by` says what it does.

    `last` is the latest.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.last: int = signal.SIGINT
        self._act: Callable[[], object] | None = None

    @contextmanager
    def handled_by(self, act: Callable[[], object]) -> Iterator[None]:
        """Let the first signal do this within the block, and nothing but decide the exit code behind it."""
        self._act = act
        try:
            yield
        finally:
            # What is done by then is still reported.
            self._act = lambda: None

    def take(self, number: int, frame: FrameType | None) -> None:
        """Take a signal. Raises `KeyboardInterrupt` when it ends the process."""
        self.last = number
        if self._act is None or self.first is not None:
            _end_soon(exit_code_of(number))
            raise KeyboardInterrupt
        self.first = number
        self._act()


@contextmanager
def interruptible() -> Iterator[Interrupts]:
    """Take the signals until the block ends; the one that ends the process decides its exit code."""
    interrupts = Interrupts()
    before = {number: signal.signal(number, interrupts.take) for number in _SIGNALS}
    try:
        yield interrupts
    except KeyboardInterrupt:
        raise typer.Exit(exit_code_of(interrupts.last)) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_interruptibly(runner: EvalRunner, evals: Sequence[Eval], interrupts: Interrupts) -> EvalReport:
    """Run the evals in an event loop of their own; a signal makes the report one of what was done by then."""

    async def run() -> EvalReport:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            # The second ends what runs wherever it is; that nobody takes its error any more is no news.
            loop.set_exception_handler(lambda *_: None)
            # Not at once: a regular expression may be holding up the loop.
            loop.call_soon_threadsafe(runner.stop)

        with interrupts.handled_by(stop):
            return await runner.arun(evals)

    try:
        return asyncio.run(run_without_joining_threads(run()))
    except SystemExit:
        # Of a task that an agent began: it ends the loop past whoever waits for it, and its code may be 0.
        tell("an agent in this process called sys.exit() in a task of its own: the run is over, nothing is reported")
        raise typer.Exit(UNJUDGED) from None


def leave(code: int) -> NoReturn:
    """End the command with an exit code, also where a case that was cut off has left a thread that hangs."""
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        _end_soon(code)
    raise typer.Exit(code)


def _end_soon(code: int) -> None:
    """End the process even where somebody catches the exception, or waits for what does not end."""

    def end() -> None:
        time.sleep(_GRACE_S)
        os._exit(code)

    # Below `threading`, a lock of which the signal may have come upon.
    _thread.start_new_thread(end, ())
