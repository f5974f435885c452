"""Waiting for deployments before the first case."""

import asyncio

import pytest

from remote_evals import Eval, EvalRunner, RemoteTarget, Target, UsageError, make_target
from remote_evals.cli.exits import decide_exit_code
from remote_evals.running.workers import Readiness
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, greet, listen, named, serve
from tests.serving.listeners import Notes


async def test_cases_begin_once_the_new_build_answers() -> None:
    """No case is sent before the health has the expected header, and the listener is notified of the wait."""
    health = [{"times": 1, "headers": {"X-Version": "1"}}, {"headers": {"X-Version": "2"}}]
    notes = Notes()
    with serve(health=health) as server:
        target = RemoteTarget(server.url, limits=PATIENT)
        readiness = Readiness(20, {"X-Version": "2"})
        report = await EvalRunner(target, readiness=readiness, listener=notes).arun(named("a"))
        paths = [request.path for request in server.requests]
    assert [row.status for row in report.results] == ["passed"]
    assert paths == ["/health"] * (len(paths) - 1) + ["/chat"]
    assert len(paths) > 2
    assert notes.calls == ["start 1", f"wait {server.url}", "+a", "-a passed"]


async def test_a_deployment_that_is_never_ready_has_no_cases() -> None:
    """Its cases are skipped with the reason; those of another deployment and of an in-process agent are run."""
    notes = Notes()
    with serve(health={"fault": "unavailable"}) as down, serve() as up:
        targets: list[Target] = [
            RemoteTarget(down.url, limits=PATIENT),
            RemoteTarget(up.url, limits=PATIENT),
            make_target(lambda prompt: "Hello."),
        ]
        evals = [Eval(str(index), greet, target=target) for index, target in enumerate(targets)]
        report = await EvalRunner(readiness=Readiness(0), listener=notes, concurrency=1).arun(evals)
        assert [request.path for request in down.requests] == ["/health"]
    unready, *others = report.results
    assert (unready.status, unready.error and unready.error.code) == ("skipped", "NOT_READY")
    assert unready.error is not None
    assert "503" in unready.error.message
    assert [row.status for row in others] == ["passed", "passed"]
    assert sorted(notes.calls[1:3]) == sorted([f"wait {down.url}", f"wait {up.url}"])
    assert decide_exit_code(report) == 4


async def test_deployments_are_waited_for_together() -> None:
    """All deployments are waited for at the same time."""
    together = asyncio.Barrier(2)

    async def answer(connection: Connection) -> None:
        if connection.request_line.startswith("GET"):
            async with asyncio.timeout(10):
                await together.wait()
            await connection.send([b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"])
        else:
            await connection.send(WHOLE_RUN)

    async with listen(answer) as one, listen(answer) as other:
        evals = [Eval(host, greet, target=RemoteTarget(f"http://{host}", limits=PATIENT)) for host in (one, other)]
        report = await EvalRunner(readiness=Readiness(20)).arun(evals)
    assert [row.status for row in report.results] == ["passed", "passed"]


async def test_an_error_that_waiting_cannot_fix_is_reported() -> None:
    """If the health answers with another kind of error, the cases are skipped with that error and its status."""
    with serve(health={"fault": "server-error"}) as server:
        target = RemoteTarget(server.url, limits=PATIENT)
        report = await EvalRunner(target, readiness=Readiness(60)).arun(named("a"))
    [row] = report.results
    assert row.status == "skipped"
    assert row.error is not None
    assert (row.error.code, row.error.status) == ("REMOTE_STATUS", 500)
    assert decide_exit_code(report) == 4


def test_waiting_without_a_deployment_is_a_usage_error() -> None:
    """Readiness without a deployment raises: otherwise an in-process agent could be mistaken for the new build."""
    with pytest.raises(UsageError, match="there is no deployment to wait for"):
        EvalRunner(agent=lambda prompt: "Hello.", readiness=Readiness(0)).run(named("a"))
