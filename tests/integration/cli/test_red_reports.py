"""A red run is red in every report, with its reason, even if no case failed; each cause is a real one."""

import asyncio
from xml.etree.ElementTree import Element, fromstring

from remote_evals import Eval, EvalContext, EvalReport, EvalRunner, Readiness, RemoteTarget, make_target
from remote_evals.cli.exits import decide_exit_code
from remote_evals.reporters import render_annotations, render_junit, render_markdown, render_summary
from tests.serving.deployments import PATIENT, STREAM_HEAD, WHOLE_RUN, Connection, chunks, greet, listen, named, serve

KINDS = ("failure", "error", "skipped")
HALF = [STREAM_HEAD, *list(chunks([b'data: {"type":"text.delta","text":"Refunded"}\n\n']))[:-1]]


def outcomes(report: EvalReport) -> list[tuple[str, str | None]]:
    """Return what each case is to a reader of JUnit: an element and its type."""
    cases = fromstring(render_junit(report)).iter("testcase")  # noqa: S314 - made here
    return [(found.tag, found.get("type")) for case in cases for found in case if found.tag in KINDS]


def get_error_text(report: EvalReport) -> str:
    """Return the text of the first error in JUnit."""
    error = fromstring(render_junit(report)).find(".//error")  # noqa: S314 - made here
    assert isinstance(error, Element)
    return str(error.text)


async def test_a_deployment_that_is_never_ready() -> None:
    """The reason why nothing was sent is once in each report for people, and at each case in JUnit."""
    with serve(health={"fault": "unavailable"}) as server:
        target = RemoteTarget(server.url, limits=PATIENT)
        report = await EvalRunner(target, readiness=Readiness(0)).arun(named("a", "b", "c"))
    assert decide_exit_code(report) == 4
    assert outcomes(report) == [("error", "NOT_READY")] * 3
    assert render_annotations(report).startswith(f"::error title=3 cases skipped::NOT_READY: {server.url}")
    text = render_markdown(report)
    assert text.startswith("### ❌ 0/3 passed (0%), 3 skipped\n")
    assert text.count("- 3 cases skipped: NOT&#95;READY&#58; ") == text.count("READY") == 1
    assert render_summary(report).count("NOT_READY: ") == 1


async def test_a_refused_token() -> None:
    """The case whose token was rejected is an error, and the skipped cases have their own."""
    with serve(token="demo-token-123") as server:
        target = RemoteTarget(server.url, token="demo-token-456", limits=PATIENT)
        report = await EvalRunner(target, concurrency=1).arun(named("a", "b", "c"))
    assert decide_exit_code(report) == 3
    assert outcomes(report) == [("error", "REMOTE_UNAUTHORIZED"), *[("error", "TOKEN_REFUSED")] * 2]
    commands = [line.split("::")[1:] for line in render_annotations(report).splitlines()]
    assert commands[0] == [
        "error title=2 cases skipped",
        "TOKEN_REFUSED: not run, since the deployment refused the token",
    ]
    assert commands[1][0] == "error title=a"


async def test_the_limit_of_the_whole_run() -> None:
    """A run that exceeds its time limit names that limit, and is red although nothing failed."""

    async def hang(t: EvalContext) -> None:
        await asyncio.Event().wait()

    agent = make_target(lambda prompt: "Hello.")
    runner = EvalRunner(agent, concurrency=1, max_time_s=0.3)
    report = await runner.arun([Eval("a", greet), Eval("b", hang), Eval("c", greet)])
    assert decide_exit_code(report) == 4
    assert outcomes(report) == [("error", "MAX_TIME")] * 2
    assert render_markdown(report).startswith("### ❌ 1/3 passed (33%), 2 skipped\n")
    assert "\n- 2 cases skipped: MAX&#95;TIME&#58; not done within 300ms" in render_markdown(report)
    assert render_annotations(report).startswith("::error title=2 cases skipped::MAX_TIME: not done within 300ms")


async def test_a_turn_that_was_cut_off() -> None:
    """A case that was interrupted under way shows its reply so far, in each report for people."""

    async def answer(connection: Connection) -> None:
        await connection.send(WHOLE_RUN if connection.body["input"] == "done" else HALF)
        if connection.body["input"] == "flies":
            runner.stop()
        await connection.gone()

    async with listen(answer) as host:
        runner = EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT), concurrency=1)
        report = await runner.arun(named("done", "flies", "never"))
    [_, flew, _] = report.results
    assert outcomes(report) == [("error", "INTERRUPTED")] * 2
    assert render_annotations(report).startswith("::error title=2 cases skipped%2C 1 under way::INTERRUPTED: ")
    for text in (render_summary(report), render_markdown(report), get_error_text(report)):
        assert text.count("under way: it was cut off, and what was sent may still take effect") == 1
        assert f"session {flew.session_id} · trace {flew.turns[0].trace_id}" in text


async def test_what_fail_fast_leaves_out() -> None:
    """Cases that --fail-fast skips add no error to that of the case that did not pass."""

    async def break_down(t: EvalContext) -> None:
        raise LookupError("no such order")

    agent = make_target(lambda prompt: "Hello.")
    runner = EvalRunner(agent, concurrency=1, fail_fast=True)
    report = await runner.arun([Eval("a", break_down), Eval("b", greet)])
    assert decide_exit_code(report) == 4
    assert outcomes(report) == [("error", "EVAL_FAILED"), ("skipped", None)]
    assert [line.partition("::EVAL")[0] for line in render_annotations(report).splitlines()] == ["::error title=a"]
    assert "\n- 1 case skipped: FAILED&#95;FAST&#58; " in render_markdown(report)
