"""Event loops beside those of the tests, which find theirs as they left it."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..core.threads import leave_threads
from ..evals.eval import Eval
from ..results import EvalReport
from ..running.runner import EvalRunner


def run_evals(runner: EvalRunner, evals: Sequence[Eval]) -> EvalReport:
    """Run evals to their end in a loop of their own, which never becomes the thread's current one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as own:
            return own.run(leave_threads(runner.arun(evals)))
    return runner.run(evals)


@contextmanager
def open_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Yield a loop that runs in a thread of its own; leaving cancels what still runs in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="remote-agent", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        # Its end closes the loop as that of `asyncio.run` does.
        with asyncio.Runner(loop_factory=lambda: loop):
            pass
