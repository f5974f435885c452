"""One target in the hands of several runners, and in nobody's."""

import asyncio

import pytest

from remote_evals import EvalRunner, RemoteTarget, UsageError
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, listen, named, serve


async def test_two_runners_may_share_a_target() -> None:
    """A target stays open until the last of the runners that use it at a time is done, and may be used again."""
    first_is_done = asyncio.Event()

    async def answer(connection: Connection) -> None:
        if connection.body["input"] == "slow":
            await first_is_done.wait()
        await connection.send(WHOLE_RUN)

    async def run(name: str) -> list[str]:
        report = await EvalRunner(target, concurrency=1).arun(named(name, f"{name} again"))
        first_is_done.set()
        return [result.status for result in report.results]

    async with listen(answer) as host:
        target = RemoteTarget(f"http://{host}", limits=PATIENT)
        async with asyncio.timeout(20):
            assert [*await asyncio.gather(run("slow"), run("quick"))] == [["passed"] * 2] * 2
            assert await run("once more") == ["passed"] * 2


async def test_a_target_that_is_not_open_says_so() -> None:
    """A session of a target that nobody entered, or that was left, is a usage error that says what to do."""
    with serve() as server:
        target = RemoteTarget(f"{server.url}?key=hidden")
        for _ in range(2):
            with pytest.raises(UsageError, match=r"is not open; use it in `async with`, or by an EvalRunner") as caught:
                target.open_session()
            assert server.url in str(caught.value)
            assert "hidden" not in str(caught.value)
            async with target:
                pass
        assert server.requests == []
