"""The outcome of a case: passed, failed, or an error, which never stops the other cases."""

import asyncio

import pytest

from remote_evals import Eval, EvalContext, EvalRunner, RemoteTarget, equals
from tests.serving.deployments import PATIENT, greet, named, serve


async def test_an_eval_that_breaks_is_an_error_of_its_own() -> None:
    """An exception in an eval's own code is an error of its case, with the runs so far, and the others run."""

    async def divide(t: EvalContext) -> None:
        await t.send("hi")
        t.completed()
        raise ZeroDivisionError("by zero")

    with serve() as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun([Eval("broken", divide), *named("b")])
    broken, other = report.results
    assert (broken.status, other.status) == ("error", "passed")
    assert broken.error is not None
    assert (broken.error.code, broken.run.reply) == ("EVAL_FAILED", "Hello.")
    assert broken.error.message == "the eval raised ZeroDivisionError: by zero"


async def test_a_gate_that_failed_before_the_eval_broke_counts() -> None:
    """A case whose gate failed is failed, not an error, even if it broke afterwards; both are reported."""

    async def run(t: EvalContext) -> None:
        t.check("sum", 1 + 1, equals(3))
        await t.send("hi")

    with serve({"fault": "server-error", "text": ""}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun([Eval("a", run)])
    [result] = report.results
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.code == "REMOTE_STATUS"


async def test_an_eval_that_asserts_nothing_is_no_success() -> None:
    """A case that checked nothing is an error."""

    async def nothing(t: EvalContext) -> None:
        await t.send("hi")

    with serve() as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun([Eval("empty", nothing)])
    [result] = report.results
    assert result.error is not None
    assert (result.status, result.error.code, result.score) == ("error", "EVAL_EMPTY", 0.0)


@pytest.mark.parametrize(("runner_s", "own_s"), [(0.2, None), (60.0, 0.2)], ids=["runner's", "eval's own"])
async def test_a_case_that_takes_too_long_ends(runner_s: float, own_s: float | None) -> None:
    """A case ends at the runner's limit, or at its own if it has one, which does not affect other cases."""
    with serve(
        {"when": {"input": "slow"}, "fault": {"name": "silence", "after": 2}, "text": "x"}, {"text": "y"}
    ) as server:
        slow, quick = named("slow", "quick")
        slow = Eval(slow.name, slow.run, timeout_s=own_s)
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), timeout_s=runner_s)
        report = await runner.arun([slow, quick])
    assert [result.status for result in report.results] == ["error", "passed"]
    assert report.results[0].error is not None
    assert report.results[0].error.code == "REMOTE_TIMEOUT"
    assert "not done within 200ms" in report.results[0].error.message


async def test_the_limit_of_a_case_is_for_all_its_turns() -> None:
    """The limit counts from the start of a case: a later turn does not restart it."""

    async def talk(t: EvalContext) -> None:
        for _ in range(1000):
            await t.send("again")

    with serve({"text": "x", "delay": "5ms"}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT), timeout_s=0.3).arun([Eval("long", talk)])
    [result] = report.results
    assert result.error is not None
    assert result.error.code == "REMOTE_TIMEOUT"
    assert 1 < len(result.turns) < 100


async def test_an_eval_that_hangs_in_its_own_code_ends() -> None:
    """The limit of a case includes what an eval does besides sending."""

    async def hang(t: EvalContext) -> None:
        await t.send("hi")
        await asyncio.Event().wait()

    with serve() as server:
        async with asyncio.timeout(2):
            runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), timeout_s=0.2)
            report = await runner.arun([Eval("hangs", hang), *named("b")])
    assert [result.status for result in report.results] == ["error", "passed"]


@pytest.mark.parametrize(("strict", "status"), [(False, "passed"), (True, "failed")])
async def test_a_soft_failure_fails_only_a_strict_run(strict: bool, status: str) -> None:
    """A failed soft assertion is counted, and fails the case only in a strict run."""

    async def soft(t: EvalContext) -> None:
        await greet(t)
        t.soft("sum", 1 + 1, equals(3))

    with serve() as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT), strict=strict).arun([Eval("soft", soft)])
    assert (report.results[0].status, report.soft_failed) == (status, 1)
