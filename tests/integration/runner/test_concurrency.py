"""How a suite is run: with bounded concurrency, in a stable order, and stopped at once when necessary."""

import asyncio
import threading
import time

import pytest

from remote_evals import Eval, EvalContext, EvalResult, EvalRunner, Listener, Readiness, RemoteTarget, UsageError
from tests.serving.deployments import PATIENT, STREAM_HEAD, WHOLE_RUN, Connection, greet, listen, named, serve
from tests.serving.listeners import Notes


class EndListener(Listener):
    """A listener that only listens to the ends of cases."""

    def __init__(self) -> None:
        self.statuses: list[str] = []

    def on_case_end(self, result: EvalResult) -> None:
        self.statuses.append(result.status)


async def test_a_listener_needs_only_the_methods_it_overrides() -> None:
    """A listener can override one method and ignore the others, such as the one for the wait."""
    ends = EndListener()
    with serve() as server:
        target = RemoteTarget(server.url, limits=PATIENT)
        await EvalRunner(target, readiness=Readiness(20), listener=ends).arun(named("a", "b"))
    assert ends.statuses == ["passed", "passed"]


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_as_many_cases_as_allowed_run_at_a_time(concurrency: int) -> None:
    """Exactly as many cases as allowed run at the same time, until fewer are left."""
    together = asyncio.Barrier(concurrency)
    at_once: set[Connection] = set()
    most = 0

    async def answer(connection: Connection) -> None:
        nonlocal most
        at_once.add(connection)
        most = max(most, len(at_once))
        # Passed only when this many requests have come.
        async with asyncio.timeout(10):
            await together.wait()
        at_once.remove(connection)
        await connection.send(WHOLE_RUN)

    async with listen(answer) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), concurrency=concurrency)
        report = await runner.arun(named(*map(str, range(3 * concurrency))))
    assert [result.status for result in report.results] == ["passed"] * 3 * concurrency
    assert most == concurrency


async def test_the_report_is_in_the_order_of_the_cases() -> None:
    """The report has the cases in the order given; the listener hears of them in the order in which they end."""
    ended = {name: asyncio.Event() for name in "abcd"}
    waits_for = {"a": "b", "b": "c", "c": "d"}

    async def answer(connection: Connection) -> None:
        name = connection.body["input"]
        if name in waits_for:
            await ended[waits_for[name]].wait()
        await connection.send(WHOLE_RUN)
        await connection.gone()
        ended[name].set()

    notes = Notes()
    async with listen(answer) as host:
        report = await EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), listener=notes).arun(named(*"abcd"))
    assert [result.name for result in report.results] == ["a", "b", "c", "d"]
    assert notes.calls[:5] == ["start 4", "+a", "+b", "+c", "+d"]
    assert sorted(notes.calls[5:]) == [f"-{name} passed" for name in "abcd"]
    assert notes.calls[5] == "-d passed"


async def test_a_stopped_run_reports_what_is_done() -> None:
    """After `stop`, cases in progress are abandoned and no other starts; all of them are skipped in the report."""
    gone = asyncio.Event()
    hanging = asyncio.Event()

    async def answer(connection: Connection) -> None:
        if connection.body["input"] == "hangs":
            hanging.set()
            await connection.gone()
            gone.set()
        else:
            await hanging.wait()
            await connection.send(WHOLE_RUN)

    async with listen(answer) as host:
        notes = Notes(lambda: runner.stop())
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), concurrency=2, listener=notes)
        report = await runner.arun(named("done", "hangs", "never", "nor this"))
        await asyncio.wait_for(gone.wait(), 10)
    assert [result.status for result in report.results] == ["passed", "skipped", "skipped", "skipped"]
    assert [result.error.code for result in report.results if result.error] == ["INTERRUPTED"] * 3
    assert report.interrupted
    assert notes.calls == ["start 4", "+done", "+hangs", "-done passed", "-hangs skipped"]


async def test_a_stop_ends_every_run_in_progress() -> None:
    """A runner can run several times at once: `stop` ends them all, but does not mark a finished one."""
    hanging = asyncio.Barrier(3)

    async def answer(connection: Connection) -> None:
        if connection.body["input"] == "done":
            await connection.send(WHOLE_RUN)
            return
        async with asyncio.timeout(10):
            await hanging.wait()
        await connection.gone()

    async with listen(answer) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT))
        runs = [asyncio.create_task(runner.arun(named(name))) for name in ("a", "b")]
        done = await runner.arun(named("done"))
        async with asyncio.timeout(10):
            await hanging.wait()
            runner.stop()
            reports = [await run for run in runs]
    assert [(report.results[0].status, report.interrupted) for report in reports] == [("skipped", True)] * 2
    assert (done.results[0].status, done.interrupted) == ("passed", False)


async def test_a_runner_that_was_stopped_before_sends_nothing() -> None:
    """A run that was stopped before it began sends nothing, and every case is skipped."""
    with serve() as server:
        runner = EvalRunner(RemoteTarget(server.url))
        runner.stop()
        report = await runner.arun(named("a", "b"))
        assert server.requests == []
    assert [result.status for result in report.results] == ["skipped", "skipped"]


@pytest.mark.parametrize("parts", [(), (STREAM_HEAD,)], ids=["before the headers", "in the stream"])
async def test_a_cancelled_run_leaves_nothing_behind(parts: tuple[bytes, ...]) -> None:
    """A cancelled run raises the cancellation, ends every task it started and closes every connection."""
    asked, gone = asyncio.Barrier(4), asyncio.Barrier(4)

    async def answer(connection: Connection) -> None:
        await connection.send(parts)
        await asked.wait()
        await connection.gone()
        await gone.wait()

    before = asyncio.all_tasks()
    async with listen(answer) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), concurrency=3)
        run = asyncio.create_task(runner.arun(named(*"abcde")))
        async with asyncio.timeout(10):
            await asked.wait()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            await gone.wait()
    assert asyncio.all_tasks() == before


async def test_an_eval_without_a_target_is_a_usage_error() -> None:
    """A run without a target for one of its cases starts none of them."""
    notes = Notes()
    with serve() as server, pytest.raises(UsageError, match="'lost' has no target"):
        await EvalRunner(listener=notes).arun([Eval("a", greet, target=RemoteTarget(server.url)), *named("lost")])
    assert notes.calls == []


def test_a_concurrency_below_one_is_a_usage_error() -> None:
    """A concurrency below one is rejected."""
    with pytest.raises(UsageError, match="at least 1, got 0"):
        EvalRunner(concurrency=0)


async def test_a_run_of_nothing_is_an_empty_report() -> None:
    """A run of no cases gives a report without rows, and a pass rate of 0 rather than a silent 1."""
    report = await EvalRunner().arun([])
    assert (report.results, report.pass_rate) == ((), 0.0)


def test_a_run_does_not_wait_for_a_thread_that_hangs() -> None:
    """A thread that hangs, as in a slow name lookup, does not delay the report beyond the time limit."""
    release = threading.Event()

    async def resolve(t: EvalContext) -> None:
        await asyncio.get_running_loop().run_in_executor(None, release.wait, 20)

    started = time.perf_counter()
    try:
        with serve() as server:
            report = EvalRunner(RemoteTarget(server.url), timeout_s=0.2).run(Eval("a", resolve))
    finally:
        release.set()
    assert time.perf_counter() - started < 10
    assert report.results[0].error is not None
    assert report.results[0].error.code == "CASE_TIMEOUT"
