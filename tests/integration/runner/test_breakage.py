"""Evals that break in unusual ways, and runs that are stopped from outside."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalRunner, RemoteTarget, Session
from tests.serving.deployments import PATIENT, STREAM_HEAD, Connection, chunks, listen, named, sending, serve


class UnprintableError(Exception):
    """An error whose `str` raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


BREAKS: dict[str, Callable[[], BaseException]] = {
    "CancelledError": asyncio.CancelledError,
    "SystemExit": lambda: SystemExit(3),
    "ValueError": lambda: ValueError("no"),
    "TimeoutError": TimeoutError,
    "ExceptionGroup": lambda: ExceptionGroup("several", [ValueError("no")]),
    "GeneratorExit": GeneratorExit,
    "pytest.fail": lambda: pytest.fail.Exception("as in a test"),
    "an error without text": UnprintableError,
}


@pytest.mark.parametrize("name", BREAKS)
async def test_whatever_an_eval_raises_is_an_error_of_its_own(name: str) -> None:
    """An eval that raises anything is EVAL_FAILED, with the runs so far, and the others run."""

    async def raising(t: EvalContext) -> None:
        await t.send("hi")
        raise BREAKS[name]()

    with serve() as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), concurrency=1)
        report = await runner.arun([*named("a"), Eval("breaks", raising), *named("b")])
    assert [result.status for result in report.results] == ["passed", "error", "passed"]
    broken = report.results[1]
    assert broken.error is not None
    assert (broken.error.code, broken.run.reply) == ("EVAL_FAILED", "Hello.")
    assert type(BREAKS[name]()).__name__ in broken.error.message
    assert not report.interrupted


async def test_an_eval_that_awaits_what_was_cancelled_is_an_error_of_its_own() -> None:
    """A cancellation of a task of the eval's own does not cancel the run."""

    async def awaiting(t: EvalContext) -> None:
        task = asyncio.create_task(t.send("hi"))
        task.cancel()
        await task

    with serve() as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun([Eval("a", awaiting), *named("b")])
    assert [result.status for result in report.results] == ["error", "passed"]
    assert [result.error.code for result in report.results if result.error] == ["EVAL_FAILED"]


async def test_a_cancellation_from_outside_goes_through() -> None:
    """A cancellation of the run is raised, unlike one of an eval's own, and no other case starts."""
    begun, asked = asyncio.Event(), []

    async def hang(t: EvalContext) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def never(t: EvalContext) -> None:
        asked.append(t.session_id)

    with serve() as server:
        runner = EvalRunner(RemoteTarget(server.url), concurrency=1)
        run = asyncio.create_task(runner.arun([Eval("hangs", hang), Eval("never", never)]))
        async with asyncio.timeout(10):
            await begun.wait()
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
    assert run.cancelled()
    assert asked == []


class ObservableTarget(RemoteTarget):
    """A target that keeps its latest session, to see how far it is."""

    def open_session(self, limit_s: float | None = None, tap: Any = None) -> Any:
        self.session: Session = super().open_session(limit_s, tap)
        return self.session

    async def wait_for_reply(self, text: str) -> None:
        """Wait until this much of the reply has arrived."""
        async with asyncio.timeout(10):
            while not (self.session.partial and self.session.partial.reply == text):  # noqa: ASYNC110
                await asyncio.sleep(0)


async def test_a_case_stopped_in_flight_keeps_what_it_had() -> None:
    """A case that is interrupted during a turn is skipped, and keeps its session, trace id and reply so far."""
    sent: list[Connection] = []
    half = sending(STREAM_HEAD, *list(chunks([b'data: {"type":"text.delta","text":"Half"}\n\n']))[:-1])

    async def answer(connection: Connection) -> None:
        sent.append(connection)
        await half(connection)

    async with listen(answer) as host:
        target = ObservableTarget(f"http://{host}", limits=PATIENT)
        runner = EvalRunner(target, concurrency=1)
        run = asyncio.create_task(runner.arun(named("flies", "never")))
        async with asyncio.timeout(10):
            while not hasattr(target, "session"):  # noqa: ASYNC110
                await asyncio.sleep(0)
        await target.wait_for_reply("Half")
        runner.stop()
        report = await run
    [request] = sent
    flew, never = report.results
    assert flew.error is not None
    assert (flew.status, flew.error.code, flew.run.reply) == ("skipped", "INTERRUPTED", "Half")
    assert flew.session_id == request.body["sessionId"]
    assert flew.run.trace_id == str(request.header("traceparent")).split("-")[1]
    assert (never.status, never.session_id, never.turns) == ("skipped", None, ())
