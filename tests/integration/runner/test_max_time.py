"""The time limit of a whole run: once it is over, nothing more is sent, and the results so far are reported."""

import asyncio
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalRunner, RemoteTarget, equals, make_target
from remote_evals.cli.exits import decide_exit_code
from remote_evals.running.workers import Readiness
from tests.serving.deployments import PATIENT, STREAM_HEAD, WHOLE_RUN, Connection, chunks, listen, named, serve

HALF = [STREAM_HEAD, *list(chunks([b'data: {"type":"text.delta","text":"Half"}\n\n']))[:-1]]
OVER = "not done within 600ms, the limit of the whole run (--max-time)"


async def test_cases_under_way_are_cut_off_and_kept() -> None:
    """Finished cases stay, the case in progress is skipped with its reply so far, and nothing more is sent."""
    prompts: list[str] = []
    gone = asyncio.Event()

    async def answer(connection: Connection) -> None:
        prompts.append(connection.body["input"])
        await connection.send(WHOLE_RUN if connection.body["input"] == "done" else HALF)
        await connection.gone()
        if connection.body["input"] == "flies":
            gone.set()

    async with listen(answer) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), concurrency=1, max_time_s=0.6)
        report = await runner.arun(named("done", "flies", "never"))
        await asyncio.wait_for(gone.wait(), 10)
    done, flew, never = report.results
    assert prompts == ["done", "flies"]
    assert (done.status, flew.status, never.status) == ("passed", "skipped", "skipped")
    assert [result.error and (result.error.code, result.error.message) for result in (flew, never)] == [
        ("MAX_TIME", OVER)
    ] * 2
    assert (flew.run.reply, flew.session_id is None, never.turns) == ("Half", False, ())
    assert not report.interrupted
    assert decide_exit_code(report) == 4


async def test_a_gate_that_had_failed_counts() -> None:
    """A case that is cut off after one of its gates failed is failed."""

    async def fail(t: EvalContext) -> None:
        t.check("sum", 1 + 1, equals(3))
        await t.send("hi")

    with serve({"text": "x", "fault": "silence"}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT), max_time_s=0.2).arun(Eval("a", fail))
    [result] = report.results
    assert (result.status, result.error and result.error.code) == ("failed", "MAX_TIME")
    assert decide_exit_code(report) == 1


async def test_a_run_that_is_done_in_time_is_left_alone() -> None:
    """A limit that is not reached changes nothing."""
    with serve() as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT), max_time_s=30).arun(named("a", "b"))
    assert [result.status for result in report.results] == ["passed", "passed"]
    assert decide_exit_code(report) == 0


async def test_the_wait_for_a_deployment_counts() -> None:
    """The limit includes the wait for a deployment, which ends when the limit is over."""

    async def answer(connection: Connection) -> None:
        await connection.gone()

    async with listen(answer) as host:
        target = RemoteTarget(f"http://{host}", limits=PATIENT)
        report = await EvalRunner(target, readiness=Readiness(30), max_time_s=0.2).arun(named("a", "b"))
    assert [result.error and result.error.code for result in report.results] == ["MAX_TIME"] * 2
    assert report.duration_ms < 5000


async def test_the_start_of_an_app_counts() -> None:
    """The limit includes the start of an in-process app, which is abandoned when the limit is over."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await asyncio.Event().wait()

    report = await EvalRunner(make_target(app), max_time_s=0.2).arun(named("a"))
    assert [result.error and result.error.code for result in report.results] == ["MAX_TIME"]


async def test_a_retry_is_not_waited_for() -> None:
    """A turn that waits for its retry is abandoned when the limit is over."""
    with serve({"text": "", "fault": {"name": "unavailable", "retry_after": 60}}) as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), max_time_s=0.3, timeout_s=0)
        report = await runner.arun(named("a"))
        assert len(server.requests) == 1
    assert [result.error and result.error.code for result in report.results] == ["MAX_TIME"]


@pytest.mark.parametrize("first", ["cut", "cancelled"])
async def test_a_cancellation_from_outside_still_goes_through(first: str) -> None:
    """A cancellation of the run is raised, even if the run is stopped at the same moment."""
    asked = asyncio.Event()

    async def answer(connection: Connection) -> None:
        asked.set()
        await connection.gone()

    async with listen(answer) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT))
        run = asyncio.create_task(runner.arun(named("a")))
        await asyncio.wait_for(asked.wait(), 10)
        for act in (runner.stop, run.cancel) if first == "cut" else (run.cancel, runner.stop):
            act()
        with pytest.raises(asyncio.CancelledError):
            await run
