"""Asks a server that sends whatever it is told to, many times on one event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

from remote_evals import Limits, RemoteError, RemoteTarget, RunResult, Session
from tests.contract.replay import Connection, listen

from .answers import PAUSE, Answer
from .pieces import TOKEN

T = TypeVar("T")
How = Callable[[Session], Awaitable[T]]

# No answer takes so long, however busy the machine is; the clocks of the target are out before.
WALL_S = 45.0


async def take_turn(session: Session) -> RunResult:
    """Send a prompt, which the answer is for."""
    return await session.send("hi", 1)


async def decide(session: Session) -> RunResult:
    """Decide what a turn waits for; the answer is for the decision."""
    await session.send("hi", 1)
    return await session.decide("an-approval", {"approved": True})


async def read_transcript(session: Session) -> list[dict[str, Any]]:
    """Ask for the transcript, which the answer is for."""
    return await session.transcript()


class Asking:
    """A server, a target and the event loop of both; `ask` is called from outside the loop."""

    def __init__(self, runner: asyncio.Runner, limits: Limits) -> None:
        self._runner = runner
        self._limits = limits
        self._answers: dict[str, list[Answer]] = {}

    async def open(self, stack: AsyncExitStack) -> None:
        """Listen, and open the target, both until the stack is closed."""
        host = await stack.enter_async_context(listen(self._answer))
        # A token that is made anew is sent again after one was refused.
        target = RemoteTarget(f"http://{host}", token=lambda: TOKEN, limits=self._limits, retries=0)
        self._target = await stack.enter_async_context(target)

    def ask(self, how: How[T], *answers: Answer) -> list[T | RemoteError]:
        """Return what each answer comes to, all of them asked for at once. Raises `TimeoutError` after `WALL_S`."""
        return self._runner.run(self._ask(how, answers))

    async def _ask(self, how: How[T], answers: Sequence[Answer]) -> list[T | RemoteError]:
        async with asyncio.timeout(WALL_S), AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(self._target.open_session()) for _ in answers]
            for session, answer in zip(sessions, answers, strict=True):
                self._answers[session.id] = [PAUSE, answer] if how is decide else [answer]
            # In tasks of their own, so that no traceback of an error, which is searched for the token, holds an answer.
            ended = await asyncio.gather(*map(how, sessions), return_exceptions=True)
        return [_expect(outcome, answer) for outcome, answer in zip(ended, answers, strict=True)]

    async def _answer(self, connection: Connection) -> None:
        answer = self._answers[_read_session_id(connection)].pop(0)
        await connection.send(answer.parts)
        if answer.end == "stay":
            await connection.gone()
        elif answer.end == "reset":
            connection.reset()


def _expect(outcome: T | BaseException, answer: Answer) -> T | RemoteError:
    """Return what is no error, or one that a deployment may cause; raise any other one."""
    if isinstance(outcome, BaseException) and not isinstance(outcome, RemoteError):
        outcome.add_note(f"The answer was {answer!r}")
        raise outcome
    return outcome


def _read_session_id(connection: Connection) -> str:
    if connection.body and "sessionId" in connection.body:
        return str(connection.body["sessionId"])
    return connection.request_line.split()[1].split("/")[2]


@contextmanager
def open_asking(limits: Limits) -> Iterator[Asking]:
    """Yield what asks, with these limits."""
    # A factory, so that the loop is nobody's current one outside of it.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        asking, stack = Asking(runner, limits), AsyncExitStack()
        runner.run(asking.open(stack))
        try:
            yield asking
        finally:
            runner.run(stack.aclose())
