"""The `t` of an eval: send, then assert. A failed check is recorded, never raised, so that a case shows them all."""

import asyncio
from collections.abc import Awaitable

from .asserting import Assertions
from .errors import RemoteError
from .results import AssertionResult, RunResult, ToolCall
from .targets._base import Session


class EvalContext(Assertions):
    """One case against one session. Its assertions see the last reply and the calls and costs of all turns."""

    def __init__(self, session: Session) -> None:
        self.results: list[RunResult] = []
        self.assertions: list[AssertionResult] = []
        self._session = session
        super().__init__(self.results, self.assertions)

    @property
    def session_id(self) -> str:
        """The id of this case's session at the deployment."""
        return self._session.id

    @property
    def reply(self) -> str:
        """The latest reply; empty before the first."""
        return self.results[-1].reply if self.results else ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All tool calls so far, over all turns."""
        return self.result.tool_calls

    @property
    def last_turn(self) -> Assertions:
        """The same assertions on the latest turn alone."""
        return Assertions(self.results[-1:], self.assertions, turn=len(self.results))

    async def send(self, prompt: str) -> RunResult:
        """Run one turn and return it.

        Raises `RemoteError` when no run came back that can be judged; what did come is kept for the report.
        """
        return await self._take(self._session.send(prompt, len(self.results) + 1))

    async def _take(self, running: Awaitable[RunResult]) -> RunResult:
        """Keep the run that comes, or what there is of it when it breaks or is cut off."""
        try:
            result = await running
        except RemoteError as failure:
            if failure.partial is not None:
                self.results.append(failure.partial)
            raise
        except asyncio.CancelledError:
            if self._session.partial is not None:
                self.results.append(self._session.partial)
            raise
        self.results.append(result)
        return result
