"""An agent in this process as a target, with the same sessions, turns and results as a deployment."""

import inspect
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self

from httpx import AsyncBaseTransport

from ..core.prompts import Prompt
from ..core.threads import run_in_thread
from ..errors import UsageError
from ..redaction import Redactor
from ..results import RunResult, Timing
from .agents import Answer, Ask, as_run_error, is_asgi_app, is_factory, make_ask
from .asgi import AsgiTransport
from .base import Session
from .remote import RemoteTarget


def make_target(agent: Any) -> "LocalTarget":
    """Return the target of an agent in this process, or of a factory that is called for every session.

    An agent is a sync or async callable `(prompt)` or `(prompt, session)` that returns text, a `RunResult` or a
    mapping; an async generator of wire events; an object with `arun` or `run_sync`; or an ASGI app that speaks `/chat`.
    """
    return LocalTarget(agent)


class LocalTarget:
    """An in-process agent, or a factory of one that is called for every session; see `make_target`."""

    keeps_time = False

    def __init__(self, agent: Any) -> None:
        self.redactor = Redactor()
        self._agent = agent
        self._shared: AsgiTransport | None = None
        self._not_started: Exception | None = None
        self._stack = AsyncExitStack()

    @property
    def description(self) -> str:
        """The agent's name."""
        return f"in process: {getattr(self._agent, '__name__', type(self._agent).__name__)}"

    async def __aenter__(self) -> Self:
        """Start an ASGI app, which all sessions share; any other agent is made by its session."""
        if not is_factory(self._agent) and is_asgi_app(self._agent):
            self._shared, self._not_started = None, None
            try:
                self._shared = await self._stack.enter_async_context(AsgiTransport(self._agent))
            except Exception as error:  # each case reports it
                self._not_started = error
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Stop the app."""
        await self._stack.aclose()

    @asynccontextmanager
    async def open_session(self, limit_s: float | None = None) -> AsyncIterator[Session]:
        """Open a new session with a new agent; an ASGI app is asked like a deployment, without a socket."""
        if self._not_started:
            raise self._not_started
        agent = await _call_factory(self._agent) if is_factory(self._agent) else self._agent
        if not is_asgi_app(agent):
            yield LocalSession(make_ask(agent), self.redactor)
            return
        async with AsyncExitStack() as stack:
            transport = self._shared or AsgiTransport(agent)
            if transport is not self._shared:
                await stack.enter_async_context(transport)
            target = RemoteTarget("http://in-process.localhost", redactor=self.redactor, transport=_Borrowed(transport))
            await stack.enter_async_context(target)
            yield await stack.enter_async_context(target.open_session(limit_s))


class LocalSession:
    """One conversation with an in-process agent."""

    def __init__(self, ask: Ask, redactor: Redactor) -> None:
        self.id = f"eval-{secrets.token_hex(12)}"
        self.partial: RunResult | None = None
        self._ask = ask
        self._redactor = redactor
        self._messages: list[dict[str, Any]] = []

    async def __aenter__(self) -> Self:
        """Return the session."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Release nothing."""

    async def send(self, prompt: Prompt, turn: int) -> RunResult:
        """Run one turn; an agent that raises gives a run that ends with "error", as a deployed one would."""
        started = time.perf_counter()
        self.partial = None
        try:
            answer = await self._ask(prompt, self.id, turn)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # the agent is under test: its failure is a result
            answer = Answer(RunResult(finish_reason="error", error=as_run_error(error)))
        result: RunResult = self._redactor.scrub_value(
            self._finish(answer, turn, (time.perf_counter() - started) * 1000)
        )
        self._messages += [{"role": "user", "content": prompt}, {"role": "assistant", "content": result.reply}]
        return result

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Raise `UsageError`: a callable has no route for approvals; give its ASGI app as the agent."""
        raise UsageError("an agent that is called in process cannot take a decision; give its ASGI app as the agent")

    async def transcript(self) -> list[dict[str, Any]]:
        """Return the messages of this session."""
        return list(self._messages)

    def _finish(self, answer: Answer, turn: int, total_ms: float) -> RunResult:
        result = answer.result
        text_ms = total_ms if result.reply else None
        timing = result.timing if answer.is_timed else Timing(first_text_ms=text_ms, total_ms=total_ms)
        calls = tuple(call.model_copy(update={"turn": turn}) for call in result.tool_calls)
        return result.model_copy(update={"turn": turn, "timing": timing, "tool_calls": calls})


class _Borrowed(AsyncBaseTransport):
    """A transport that outlives its client."""

    def __init__(self, lender: AsyncBaseTransport) -> None:
        self.handle_async_request = lender.handle_async_request  # type: ignore[method-assign]


async def _call_factory(factory: Any) -> Any:
    """Return what a factory makes; a sync one runs in a thread, since it may load a model."""
    made = factory() if inspect.iscoroutinefunction(factory) else await run_in_thread(factory)
    return await made if inspect.isawaitable(made) else made
