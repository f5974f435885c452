"""A deployment that rejects the token is sent nothing more, and the refusal of one prompt stops nothing."""

import asyncio

import pytest

from remote_evals import CaseError, Eval, EvalContext, EvalReport, EvalRunner, RemoteTarget
from remote_evals.cli.exits import decide_exit_code
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, greet, listen, named, serve

TOKEN = "right-token-1"
UNAUTHORIZED = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"


def rows(report: EvalReport) -> list[tuple[str, str | None]]:
    return [(result.status, result.error.code if result.error else None) for result in report.results]


async def test_a_refused_token_ends_the_suite_at_once() -> None:
    """After a 401 no other case is sent: each is skipped and says why, and the exit code is 3."""
    with serve(token=TOKEN) as server:
        runner = EvalRunner(RemoteTarget(server.url, "wrong-token-2", limits=PATIENT), concurrency=1)
        report = await runner.arun([*named("a", "b"), Eval("c", greet, repeat=2)])
        assert len(server.requests) == 1
    assert rows(report) == [("error", "REMOTE_UNAUTHORIZED"), *[("skipped", "TOKEN_REFUSED")] * 3]
    assert report.results[0].error is not None
    assert report.results[0].error.status == 401
    assert report.results[1].error == CaseError(
        code="TOKEN_REFUSED", message="not run, since the deployment refused the token"
    )
    assert decide_exit_code(report) == 3


async def test_a_token_that_expires_in_a_run_stops_the_rest() -> None:
    """Cases that were done before the first 401 keep their results."""
    with serve({"text": "Hello.", "when": {"input": "a"}}, {"text": "", "fault": "unauthorized"}) as server:
        runner = EvalRunner(RemoteTarget(server.url, TOKEN, limits=PATIENT), concurrency=1)
        report = await runner.arun(named("a", "b", "c"))
    assert rows(report) == [("passed", None), ("error", "REMOTE_UNAUTHORIZED"), ("skipped", "TOKEN_REFUSED")]


async def test_other_deployments_continue() -> None:
    """A rejected token concerns one deployment: the cases of another are run."""
    with serve(token=TOKEN) as closed, serve() as open_:
        targets = [RemoteTarget(closed.url, limits=PATIENT), RemoteTarget(open_.url, limits=PATIENT)]
        evals = [Eval(f"{number}", greet, target=targets[number % 2]) for number in range(6)]
        report = await EvalRunner(concurrency=1).arun(evals)
        assert (len(closed.requests), len(open_.requests)) == (1, 3)
    skipped = ("skipped", "TOKEN_REFUSED")
    assert rows(report) == [
        ("error", "REMOTE_UNAUTHORIZED"),
        *[("passed", None), skipped, ("passed", None), skipped, ("passed", None)],
    ]


async def test_a_case_in_progress_at_a_refusal_is_finished() -> None:
    """A case that was in progress when another got a 401 is run to its end."""
    refused = asyncio.Event()

    async def answer(connection: Connection) -> None:
        if connection.body["input"] == "refused":
            await connection.send([UNAUTHORIZED])
            await connection.gone()
            refused.set()
        else:
            await refused.wait()
            await connection.send(WHOLE_RUN)

    async with listen(answer) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), concurrency=2)
        report = await runner.arun(named("runs", "refused", "never"))
    assert rows(report) == [("passed", None), ("error", "REMOTE_UNAUTHORIZED"), ("skipped", "TOKEN_REFUSED")]


async def test_a_case_that_had_failed_by_then_stops_the_suite_too() -> None:
    """A 401 stops the suite even if its case had already failed, which decides its status and the exit code."""

    async def fail(t: EvalContext) -> None:
        await greet(t)
        await greet(t)

    cut = {"text": "", "finish_reason": "length", "when": {"turn": 1}}
    with serve(cut, {"text": "", "fault": "unauthorized"}) as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), concurrency=1)
        report = await runner.arun([Eval("a", fail), *named("b")])
    assert rows(report) == [("failed", "REMOTE_UNAUTHORIZED"), ("skipped", "TOKEN_REFUSED")]
    assert decide_exit_code(report) == 1


@pytest.mark.parametrize("fault", ["forbidden", "server-error"])
async def test_any_other_refusal_is_that_of_its_case(fault: str) -> None:
    """A 403, which may be a firewall's for one prompt, stops nothing, and neither does a 500."""
    with serve({"text": "", "when": {"input": "b"}, "fault": fault}, {"text": "Hello."}) as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), concurrency=1)
        report = await runner.arun(named("a", "b", "c"))
    assert [status for status, _ in rows(report)] == ["passed", "error", "passed"]
    assert report.results[1].error is not None
    assert report.results[1].error.status == {"forbidden": 403, "server-error": 500}[fault]


async def test_a_refusal_overrides_fail_fast() -> None:
    """If both would stop the rest, the rejected token is the reason that is reported."""
    with serve(token=TOKEN) as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), concurrency=1, fail_fast=True)
        report = await runner.arun(named("a", "b"))
    assert rows(report)[1] == ("skipped", "TOKEN_REFUSED")


async def test_the_next_run_asks_again() -> None:
    """A rejection stops one run: a runner that is used again sends again."""
    with serve({"text": "", "fault": {"name": "unauthorized", "times": 1}}) as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), concurrency=1)
        assert [status for status, _ in rows(await runner.arun(named("a", "b")))] == ["error", "skipped"]
        assert [status for status, _ in rows(await runner.arun(named("a", "b")))] == ["passed", "passed"]
