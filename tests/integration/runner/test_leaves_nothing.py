"""A run that is stopped or cancelled leaves no task, no socket and no open file, at any point."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalReport, EvalRunner, LLMJudge, RemoteTarget, define_eval
from remote_evals.running.workers import Readiness
from tests.serving.deployments import PATIENT, STREAM_HEAD, WHOLE_RUN, Connection, greet, listen

Abandon = Callable[[EvalRunner, "asyncio.Task[EvalReport]"], object]

WAYS: dict[str, Abandon] = {
    "stopped": lambda runner, run: runner.stop(),
    "cancelled": lambda runner, run: run.cancel(),
}
ways = pytest.mark.parametrize("way", WAYS)


class Deployment:
    """Answers `complete` requests completely, and the next one with only `start`; then it waits for the client.

    `asked` is set when it has got so far, and `left` when the client has closed that connection.
    """

    def __init__(self, *start: bytes, complete: int = 0) -> None:
        self.asked, self.left = asyncio.Event(), asyncio.Event()
        self._start = start
        self._complete = complete

    async def answer(self, connection: Connection) -> None:
        """Answer one request."""
        if self._complete:
            self._complete -= 1
            await connection.send(WHOLE_RUN)
            return
        await connection.send(self._start)
        self.asked.set()
        await connection.gone()
        self.left.set()


def open_files() -> set[str]:
    """Return the open files of this process, or nothing if the system does not list them."""
    folder, found = Path("/proc/self/fd"), set()
    for entry in folder.iterdir() if folder.exists() else ():
        with suppress(FileNotFoundError):
            found.add(f"{entry.name} {entry.readlink()}")
    return found


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Assert that the block leaves no tasks and no open files."""
    tasks, files = asyncio.all_tasks(), open_files()
    yield
    assert asyncio.all_tasks() <= tasks
    async with asyncio.timeout(10):
        # The deployment of the test closes its side a little later.
        while not open_files() <= files:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def abandon(way: str, runner: EvalRunner, evals: list[Any], asked: Awaitable[object]) -> None:
    """Run evals, stop or cancel the run once `asked` is done, and check that it ends at once."""
    async with asyncio.timeout(10):
        run = asyncio.create_task(runner.arun(evals))
        await asked
        WAYS[way](runner, run)
        if way == "cancelled":
            with pytest.raises(asyncio.CancelledError):
                await run
        else:
            assert {row.status for row in (await run).results} == {"skipped"}


@ways
@pytest.mark.parametrize("scheme", ["http", "https"], ids=["before the headers", "while connecting"])
async def test_while_nothing_was_answered(way: str, scheme: str) -> None:
    """A connection that is being made, or waits for headers, is closed."""
    far = Deployment()
    async with listen(far.answer, speaks_http=scheme == "http") as host, nothing_left():
        runner = EvalRunner(RemoteTarget(f"{scheme}://{host}", limits=PATIENT), concurrency=1)
        await abandon(way, runner, [Eval("a", greet), Eval("b", greet)], far.asked.wait())
        await asyncio.wait_for(far.left.wait(), 10)


@ways
async def test_in_the_stream(way: str) -> None:
    """A stream that is being read is closed."""
    far = Deployment(STREAM_HEAD)
    async with listen(far.answer) as host, nothing_left():
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), concurrency=1)
        await abandon(way, runner, [Eval("a", greet), Eval("b", greet)], far.asked.wait())
        await asyncio.wait_for(far.left.wait(), 10)


@ways
async def test_between_two_turns(way: str) -> None:
    """An eval that does something else between turns is ended there."""
    between = asyncio.Event()

    async def think(t: EvalContext) -> None:
        await greet(t)
        between.set()
        await asyncio.Event().wait()

    far = Deployment(complete=1)
    async with listen(far.answer) as host, nothing_left():
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT))
        await abandon(way, runner, [Eval("a", think)], between.wait())
    assert not far.asked.is_set()


@ways
async def test_in_an_eval_that_is_a_plain_function(way: str) -> None:
    """The turn of an eval that runs in a thread is ended, although the thread cannot be."""
    far = Deployment(STREAM_HEAD)

    @define_eval(name="plain")
    def plain(t: Any) -> None:
        t.send("hi")

    async with listen(far.answer) as host, nothing_left():
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT))
        await abandon(way, runner, [plain], far.asked.wait())
        await asyncio.wait_for(far.left.wait(), 10)


@ways
async def test_while_a_judge_is_asked(way: str) -> None:
    """The request to a judge is abandoned like one to the deployment."""
    agent, judge = Deployment(complete=1), Deployment()

    async def judged(t: EvalContext) -> None:
        await greet(t)
        await t.grade("Is polite.", 0.5)

    async with listen(agent.answer) as host, listen(judge.answer) as judge_host, nothing_left():
        runner = EvalRunner(
            RemoteTarget(f"http://{host}", limits=PATIENT), judge=LLMJudge(f"http://{judge_host}", "model")
        )
        await abandon(way, runner, [Eval("a", judged)], judge.asked.wait())
        await asyncio.wait_for(judge.left.wait(), 10)


@ways
async def test_while_a_deployment_is_waited_for(way: str) -> None:
    """The wait for a deployment that is not ready is abandoned."""
    far = Deployment()
    async with listen(far.answer) as host, nothing_left():
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), readiness=Readiness(60))
        await abandon(way, runner, [Eval("a", greet)], far.asked.wait())
        await asyncio.wait_for(far.left.wait(), 10)


@ways
async def test_before_a_turn_is_retried(way: str) -> None:
    """A turn that waits for its retry is not sent again."""
    rejected = asyncio.Event()

    async def answer(connection: Connection) -> None:
        assert not rejected.is_set()
        await connection.send([b"HTTP/1.1 503 No\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n"])
        await connection.gone()
        rejected.set()

    async with listen(answer) as host, nothing_left():
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), timeout_s=0)
        await abandon(way, runner, [Eval("a", greet)], rejected.wait())
