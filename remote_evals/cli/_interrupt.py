"""Ctrl-C: the first stops the run and lets what is done be reported, the second ends the process."""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress

from ..evals import Eval
from ..results import EvalReport
from ..runner import EvalRunner


def run_interruptibly(runner: EvalRunner, evals: Sequence[Eval]) -> EvalReport:
    """Run the evals in an event loop of their own; Ctrl-C makes the report one of what was done by then."""

    async def run() -> EvalReport:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            runner.stop()
            loop.remove_signal_handler(signal.SIGINT)

        # Where loops know no signals, as on Windows, Ctrl-C keeps Python's own meaning.
        with suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGINT, stop)
        return await runner.arun(evals)

    return asyncio.run(run())
