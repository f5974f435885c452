"""The fixture `remote_agent`: the `t` of an eval, for plain tests."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import wraps
from typing import Any

from ..config.deployments import TargetSettings
from ..errors import RemoteEvalsError
from ..evals.context import EvalContext, Rubrics
from ..evals.sync_context import SyncEvalContext
from ..results import CaseResult, EvalReport, EvalResult, Status
from ..results.run import combine_runs
from ..targets import RemoteTarget
from .configuration import EvalConfiguration, Sections
from .items import open_loop
from .outcomes import extract_case, find_failure, in_pytest_words, list_sections, render_case

_SESSION_LIMIT_S = 600.0


class RemoteAgent(SyncEvalContext):
    """A `t` without `await` that can also report how its test went."""

    def __init__(self, t: EvalContext, loop: asyncio.AbstractEventLoop, name: str, target: RemoteTarget) -> None:
        super().__init__(t, loop)
        self._name = name
        self._target = target

    def __repr__(self) -> str:
        return f"<remote_agent at {self._target.description}>"

    def make_blocking(self, function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        """Return a function that waits for the async one, with the words of pytest in what it raises."""
        wait = super().make_blocking(function)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            try:
                with in_pytest_words():
                    return wait(*args, **kwargs)
            except RemoteEvalsError as error:
                failure = error
            # The traceback should end at the test's own line, not inside this package.
            failure.__cause__ = failure.__context__ = None
            raise failure.with_traceback(None)

        return call

    @property
    def has_failed(self) -> bool:
        """Whether a gate failed."""
        return any(not one.passed and one.kind == "gate" for one in self._t.assertions)

    def explain(self) -> str:
        """Return which assertions failed, and what the agent did."""
        failure = find_failure(self._make_case("failed"))
        return failure.text if failure else ""

    def make_warning_sections(self) -> Sections:
        """Return the report sections of a test that passed."""
        return [] if self.has_failed else list_sections(self._make_case("passed"))

    def make_evidence_sections(self) -> Sections:
        """Return what the agent did, as the report sections of a test that raised an exception."""
        return [("remote_agent", render_case(self._make_case("failed")))] if self._t.results else []

    def _make_case(self, status: Status) -> CaseResult:
        turns = tuple(self._t.results)
        result = EvalResult(
            name=self._name,
            case=self._name,
            target=self._target.description,
            status=status,
            session_id=self._t.session_id,
            run=combine_runs(turns),
            turns=turns,
            assertions=tuple(self._t.assertions),
            case_warnings=tuple(self._t.case_warnings),
        )
        report = EvalReport(tool_version="", started_at="", target="", duration_ms=0, results=(result,))
        return extract_case(report, self._target.redactor)


@contextmanager
def open_agent(configuration: EvalConfiguration, name: str) -> Iterator[RemoteAgent]:
    """Yield the agent of one test, in a new session. Raises `UsageError` for a token that is missing or invalid."""
    target = configuration.target_for(TargetSettings())
    assert target is not None  # noqa: S101 - the fixture has checked that there is a URL
    judge = configuration.judge_for(None) if configuration.judging else None
    rubrics = Rubrics(judge, is_asked=configuration.judging)
    with open_loop() as loop:
        stack = AsyncExitStack()

        def wait_for(coroutine: Coroutine[Any, Any, Any]) -> Any:
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

        async def open_session() -> EvalContext:
            await stack.enter_async_context(target)
            session = await stack.enter_async_context(target.open_session(_SESSION_LIMIT_S))
            return EvalContext(session, rubrics, target.redactor)

        try:
            yield RemoteAgent(wait_for(open_session()), loop, name, target)
        finally:
            wait_for(stack.aclose())
