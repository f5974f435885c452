"""A client and a server that sends it any given answers, many at a time on one event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

from remote_evals import Limits, RemoteError, RemoteTarget, RunResult, Session
from tests.contract.replay import Connection, listen

from .answers import PAUSE, Answer
from .pieces import TOKEN

T = TypeVar("T")
Request = Callable[[Session], Awaitable[T]]

# No answer takes this long, even on a busy machine: the time limits of the target are shorter.
MAX_WAIT_S = 45.0


async def take_turn(session: Session) -> RunResult:
    """Send a prompt, which gets the answer."""
    return await session.send("hi", 1)


async def decide(session: Session) -> RunResult:
    """Decide the approval that a turn waits for; the decision gets the answer."""
    await session.send("hi", 1)
    return await session.decide("an-approval", {"approved": True})


async def read_transcript(session: Session) -> list[dict[str, Any]]:
    """Request the transcript, which gets the answer."""
    return await session.transcript()


class FuzzClient:
    """A server, a target and the event loop of both; `ask` is called from outside the loop."""

    def __init__(self, runner: asyncio.Runner, limits: Limits) -> None:
        self._runner = runner
        self._limits = limits
        self._answers: dict[str, list[Answer]] = {}

    async def open(self, stack: AsyncExitStack) -> None:
        """Start the server and open the target, until the stack is closed."""
        host = await stack.enter_async_context(listen(self._answer))
        # After a rejection, a token that is fetched again is sent again.
        target = RemoteTarget(f"http://{host}", token=lambda: TOKEN, limits=self._limits, retries=0)
        self._target = await stack.enter_async_context(target)

    def ask(self, request: Request[T], *answers: Answer) -> list[T | RemoteError]:
        """Return the outcome of each answer, all requested at once. Raises `TimeoutError` after `MAX_WAIT_S`."""
        return self._runner.run(self._ask(request, answers))

    async def _ask(self, request: Request[T], answers: Sequence[Answer]) -> list[T | RemoteError]:
        async with asyncio.timeout(MAX_WAIT_S), AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(self._target.open_session()) for _ in answers]
            for session, answer in zip(sessions, answers, strict=True):
                self._answers[session.id] = [PAUSE, answer] if request is decide else [answer]
            # Each runs in a task of its own, so that no traceback, which is searched for the token, holds an answer.
            ended = await asyncio.gather(*map(request, sessions), return_exceptions=True)
        return [_expect(outcome, answer) for outcome, answer in zip(ended, answers, strict=True)]

    async def _answer(self, connection: Connection) -> None:
        answer = self._answers[_read_session_id(connection)].pop(0)
        await connection.send(answer.parts)
        if answer.end == "stay":
            await connection.gone()
        elif answer.end == "reset":
            connection.reset()


def _expect(outcome: T | BaseException, answer: Answer) -> T | RemoteError:
    """Return a result, or an error that a deployment may cause; raise any other error."""
    if isinstance(outcome, BaseException) and not isinstance(outcome, RemoteError):
        outcome.add_note(f"The answer was {answer!r}")
        raise outcome
    return outcome


def _read_session_id(connection: Connection) -> str:
    if connection.body and "sessionId" in connection.body:
        return str(connection.body["sessionId"])
    return connection.request_line.split()[1].split("/")[2]


@contextmanager
def open_client(limits: Limits) -> Iterator[FuzzClient]:
    """Yield a client with these limits."""
    # A factory, so that the loop is not the current one outside of the runner.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        client, stack = FuzzClient(runner, limits), AsyncExitStack()
        runner.run(client.open(stack))
        try:
            yield client
        finally:
            runner.run(stack.aclose())
