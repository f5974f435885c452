"""Ctrl-C: the first stops the run and lets what is done be reported, the second ends the process."""

import asyncio
import signal
from collections.abc import Sequence
from types import FrameType

from ..evals import Eval
from ..results import EvalReport
from ..runner import EvalRunner


def run_interruptibly(runner: EvalRunner, evals: Sequence[Eval]) -> EvalReport:
    """Run the evals in an event loop of their own; Ctrl-C makes the report one of what was done by then."""

    async def run() -> EvalReport:
        loop = asyncio.get_running_loop()

        def interrupt(number: int, frame: FrameType | None) -> None:
            # Not the loop's own handler: that one waits for the loop, which a regular expression may be holding up.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # The second ends what runs wherever it is; that nobody takes its error any more is no news.
            loop.set_exception_handler(lambda *_: None)
            loop.call_soon_threadsafe(runner.stop)

        signal.signal(signal.SIGINT, interrupt)
        return await runner.arun(evals)

    return asyncio.run(run())
