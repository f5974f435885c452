"""Ctrl-C and SIGTERM: after the first signal the finished cases are reported, the second ends the process."""

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
from .exits import UNJUDGED, get_signal_exit_code, print_errors

# Not every system has SIGTERM.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM") if hasattr(signal, name)]
_GRACE_S = 1.0


class Interrupts:
    """The signals received so far: `first` is None until one arrives, `last` is the latest.

    A signal ends the process, except the first one that arrives within or after `handled_by`.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.last: int = signal.SIGINT
        self._on_first: Callable[[], object] | None = None

    @contextmanager
    def handled_by(self, on_first: Callable[[], object]) -> Iterator[None]:
        """Call `on_first` for the first signal within the block; after the block it only decides the exit code."""
        self._on_first = on_first
        try:
            yield
        finally:
            # What is done is still reported.
            self._on_first = lambda: None

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal. Raises `KeyboardInterrupt` if it ends the process."""
        self.last = number
        if self._on_first is None or self.first is not None:
            _force_exit_soon(get_signal_exit_code(number))
            raise KeyboardInterrupt
        self.first = number
        self._on_first()


@contextmanager
def catch_signals() -> Iterator[Interrupts]:
    """Handle signals within the block; the signal that ends the process decides its exit code."""
    interrupts = Interrupts()
    before = {number: signal.signal(number, interrupts.receive) for number in _SIGNALS}
    try:
        yield interrupts
    except KeyboardInterrupt:
        raise typer.Exit(get_signal_exit_code(interrupts.last)) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_interruptibly(runner: EvalRunner, evals: Sequence[Eval], interrupts: Interrupts) -> EvalReport:
    """Run the evals in a new event loop; after a signal, return the report of what was done."""

    async def run() -> EvalReport:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            # A second signal ends the loop anywhere; errors that then go unhandled are of no interest.
            loop.set_exception_handler(lambda *_: None)
            # Not at once: a regular expression may be blocking the loop.
            loop.call_soon_threadsafe(runner.stop)

        with interrupts.handled_by(stop):
            return await runner.arun(evals)

    try:
        return asyncio.run(run_without_joining_threads(run()))
    except SystemExit:
        # From a task that an agent started: it ends the loop without reaching any awaiting code, and its code may be 0.
        print_errors(
            "an agent in this process called sys.exit() in a task of its own: the run is over, nothing is reported"
        )
        raise typer.Exit(UNJUDGED) from None


def exit_process(code: int) -> NoReturn:
    """Exit with a code, even if a case that was abandoned left a thread that hangs."""
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        _force_exit_soon(code)
    raise typer.Exit(code)


def _force_exit_soon(code: int) -> None:
    """End the process after a grace period, even if something catches the exception or never returns."""

    def end() -> None:
        time.sleep(_GRACE_S)
        os._exit(code)

    # Not `threading`: the signal may have arrived while one of its locks was held.
    _thread.start_new_thread(end, ())
