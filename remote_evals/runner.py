"""Runs evals with bounded concurrency and makes a report of them, in the order in which they were given."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Protocol

from ._version import __version__
from .attempt import Attempt
from .errors import UsageError
from .evals import Eval
from .results import CaseError, EvalReport, EvalResult
from .targets._base import Target

_INTERRUPTED = CaseError(code="INTERRUPTED", message="not done when the run was interrupted")


class Listener(Protocol):
    """Is told how a run goes on."""

    def on_start(self, total: int) -> None:
        """Take the number of cases, once, before the first."""
        ...

    def on_case_start(self, name: str) -> None:
        """Take the name of a case that begins."""
        ...

    def on_case_end(self, result: EvalResult) -> None:
        """Take the result of a case that is done."""
        ...


class EvalRunner:
    """Runs evals against a target, `concurrency` of them at a time.

    A case takes at most `timeout_s` seconds unless its eval says otherwise; 0 sets no limit. With `strict`, a failed
    soft assertion fails its case. An eval's own target comes before the runner's.
    """

    def __init__(
        self,
        target: Target | None = None,
        *,
        concurrency: int = 4,
        timeout_s: float = 600.0,
        strict: bool = False,
        listener: Listener | None = None,
    ) -> None:
        if concurrency < 1:
            raise UsageError(f"concurrency must be at least 1, got {concurrency}")
        self._target = target
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._strict = strict
        self._listener = listener
        self._workers: list[asyncio.Task[None]] = []
        self._stopped = False

    def stop(self) -> None:
        """Stop sending: cases under way are abandoned, and `arun` returns the report of what is done."""
        self._stopped = True
        for worker in self._workers:
            worker.cancel()

    async def arun(self, evals: Sequence[Eval]) -> EvalReport:
        """Run every eval and return the report; one that cannot be judged never stops the others.

        Raises `UsageError` when an eval has no target.
        """
        targets = self._targets(evals)
        started_at, start = datetime.now(UTC), time.perf_counter()
        if self._listener:
            self._listener.on_start(len(evals))
        async with AsyncExitStack() as stack:
            for target in targets:
                await stack.enter_async_context(target)
            results = await self._run_all(evals)
        return EvalReport(
            tool_version=__version__,
            started_at=started_at.isoformat(timespec="milliseconds"),
            target=", ".join(dict.fromkeys(target.description for target in targets)),
            duration_ms=(time.perf_counter() - start) * 1000,
            results=tuple(
                results.get(index) or self._attempt(one).skip(_INTERRUPTED) for index, one in enumerate(evals)
            ),
            interrupted=self._stopped,
        )

    def _targets(self, evals: Sequence[Eval]) -> list[Target]:
        targets = [eval_.target or self._target for eval_ in evals]
        if None in targets:
            raise UsageError(f"the eval {evals[targets.index(None)].name!r} has no target to run against")
        return list(dict.fromkeys(target for target in targets if target))

    async def _run_all(self, evals: Sequence[Eval]) -> dict[int, EvalResult]:
        results: dict[int, EvalResult] = {}
        waiting = iter(enumerate(evals))
        async with asyncio.TaskGroup() as group:
            count = 0 if self._stopped else min(self._concurrency, len(evals))
            self._workers = [group.create_task(self._work(waiting, results)) for _ in range(count)]
        return results

    async def _work(self, waiting: Iterator[tuple[int, Eval]], results: dict[int, EvalResult]) -> None:
        for index, eval_ in waiting:
            if self._stopped:
                return
            if self._listener:
                self._listener.on_case_start(eval_.name)
            results[index] = await self._run_case(eval_)
            if self._listener:
                self._listener.on_case_end(results[index])

    async def _run_case(self, eval_: Eval) -> EvalResult:
        attempt = self._attempt(eval_)
        try:
            return await attempt.run()
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            return attempt.skip(_INTERRUPTED)

    def _attempt(self, eval_: Eval) -> Attempt:
        target = eval_.target or self._target
        assert target is not None  # noqa: S101 - `_targets` has refused an eval without one
        limit_s = self._timeout_s if eval_.timeout_s is None else eval_.timeout_s
        return Attempt(eval_, target, limit_s=limit_s or None, strict=self._strict)
