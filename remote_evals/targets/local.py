"""An agent in this process, as a target: the same sessions, turns and results as those of a deployment."""

import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

from httpx import ASGITransport

from ..errors import UsageError
from ..redaction import Redactor
from ..results import RunError, RunResult, Timing
from ._agents import Answer, Ask, is_asgi_app, is_factory, make_ask
from ._base import Session
from .remote import RemoteTarget


class LocalTarget:
    """An in-process agent, or a factory of one that is called for every session; see `make_target`."""

    keeps_time = False

    def __init__(self, agent: Any) -> None:
        self.redactor = Redactor()
        self._agent = agent

    @property
    def description(self) -> str:
        """The agent's name."""
        return f"in process: {getattr(self._agent, '__name__', type(self._agent).__name__)}"

    async def __aenter__(self) -> Self:
        """Acquire nothing: each session makes its own agent."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Release nothing."""

    @asynccontextmanager
    async def open_session(self, limit_s: float | None = None) -> AsyncIterator[Session]:
        """Open a fresh session with a fresh agent; an ASGI app is asked as a deployment is, without a socket."""
        agent = self._agent() if is_factory(self._agent) else self._agent
        if is_asgi_app(agent):
            transport = ASGITransport(agent, raise_app_exceptions=False)
            target = RemoteTarget("http://in-process.localhost", redactor=self.redactor, transport=transport)
            async with target, target.open_session(limit_s) as session:
                yield session
        else:
            yield LocalSession(make_ask(agent))


def make_target(agent: Any) -> LocalTarget:
    """Return the target of an agent in this process, or of a factory that is called freshly for every session.

    An agent is a sync or async callable `(prompt)` or `(prompt, session)` that returns text, a `RunResult` or a
    mapping; an async generator of wire events; an object with `arun` or `run_sync`; or an ASGI app that speaks `/chat`.
    """
    return LocalTarget(agent)


class LocalSession:
    """One conversation with an in-process agent."""

    def __init__(self, ask: Ask) -> None:
        self.id = f"eval-{secrets.token_hex(12)}"
        self.partial: RunResult | None = None
        self._ask = ask
        self._messages: list[dict[str, Any]] = []

    async def __aenter__(self) -> Self:
        """Return the session."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Release nothing."""

    async def send(self, prompt: str, turn: int) -> RunResult:
        """Run one turn; an agent that raises gives a run that ended with "error", as a deployed one would."""
        started = time.perf_counter()
        self.partial = None
        try:
            answer = await self._ask(prompt, self.id, turn)
        except UsageError:
            raise
        except Exception as error:  # the agent is what is judged: its failure is a result
            answer = Answer(
                RunResult(finish_reason="error", error=RunError(name=type(error).__name__, message=str(error)))
            )
        result = self._finish(answer, turn, (time.perf_counter() - started) * 1000)
        self._messages += [{"role": "user", "content": prompt}, {"role": "assistant", "content": result.reply}]
        return result

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        """Raise `UsageError`: an agent in this process has no route for approvals; serve it as an ASGI app."""
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
