"""What ends a run, and that nothing behind the end, or absurd in it, counts."""

import asyncio
import json
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalReport, EvalRunner, RemoteStreamError, RemoteTarget, render_json_report
from tests.builders import frame, started
from tests.serving.deployments import (
    PATIENT,
    RUN_DONE,
    STREAM_HEAD,
    Connection,
    chunks,
    fail_among_others,
    greet,
    listen,
    sending,
)


def wire(**fields: Any) -> bytes:
    """Return an event's frame as it is sent."""
    return b"data: %b\n\n" % json.dumps(fields).encode()


BEHIND = [
    wire(**frame("run.done", finishReason="error", text="Another end.", usage={"totalTokens": 9_000})),
    wire(**started("call_9", "delete_everything")),
    wire(**frame("step.done")),
    b"data: not even JSON\n\n",
]
ARRIVALS: dict[str, list[bytes]] = {
    "in one chunk": [STREAM_HEAD, *chunks([b"".join([RUN_DONE, *BEHIND])])],
    "in one packet": [STREAM_HEAD, b"".join(chunks([RUN_DONE, *BEHIND]))],
    "later": [STREAM_HEAD, *chunks([RUN_DONE, *BEHIND])],
    "half before, half later": [STREAM_HEAD, *chunks([RUN_DONE + BEHIND[0][:9], BEHIND[0][9:], *BEHIND[1:]])],
}


async def run_against(*parts: bytes, run: Any = greet) -> EvalReport:
    """Return the report of one case against a deployment that sends these parts."""
    async with listen(sending(*parts)) as host:
        return await EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT)).arun([Eval("a", run)])


@pytest.mark.parametrize("name", ARRIVALS)
async def test_what_stands_behind_the_end_never_counts(name: str) -> None:
    """A second end, a call, a step or garbage behind `run.done` changes nothing, however it arrives."""
    [result] = (await run_against(*ARRIVALS[name])).results
    assert (result.status, result.run.reply, result.run.finish_reason) == ("passed", "Hello.", "stop")
    assert (result.run.tool_calls, result.run.steps, result.run.usage) == ((), 0, None)
    assert result.run.last_event == "run.done"


@pytest.mark.parametrize("reason", [{}, {"finishReason": ""}, {"finishReason": 7}], ids=["absent", "empty", "number"])
async def test_an_end_without_a_reason_is_a_broken_stream(reason: dict[str, Any]) -> None:
    """A `run.done` that does not say how the run ended cannot be judged, which is no failure of the agent."""
    async with listen(sending(STREAM_HEAD, *chunks([wire(type="run.done", text="Hello.", **reason)]))) as host:
        failure = await fail_among_others(f"http://{host}")
    assert type(failure.error) is RemoteStreamError
    assert failure.error.happened == "run.done came without a finish reason"
    assert failure.row.run.reply == "Hello."


ABSURD = {
    "negative": {"inputTokens": -5, "outputTokens": 7, "costUsd": -0.01},
    "absurd": {"inputTokens": 10**15, "outputTokens": 7, "totalTokens": 1e300, "costUsd": 1e200},
    "beyond a float": {"totalTokens": 10**400, "costUsd": 10**400},
    "no numbers": {"inputTokens": True, "outputTokens": "7", "costUsd": [1]},
}


@pytest.mark.parametrize("name", ABSURD)
async def test_usage_that_no_run_can_have_is_not_reported(name: str) -> None:
    """A limit is not met by numbers that cannot be true: they are as good as absent, and the check says so."""

    async def limited(t: EvalContext) -> None:
        await t.send("hi")
        t.max_tokens(1000)
        t.max_cost_usd(1)

    done = wire(type="run.done", finishReason="stop", text="x", usage=ABSURD[name])
    report = await run_against(STREAM_HEAD, *chunks([done]), run=limited)
    [result] = report.results
    assert {"usage", "cost"} <= set(result.run.missing)
    assert [assertion.passed for assertion in result.assertions] == [False, False]
    assert all("did not report" in assertion.message for assertion in result.assertions)
    assert (report.total_tokens, report.cost_usd) == (None, None)


@pytest.mark.parametrize("end", [b"", b"data: nope\n\n"], ids=["no end", "garbage"])
async def test_a_huge_event_type_swells_no_message(end: bytes) -> None:
    """An event type of 200,000 characters is told by its start in messages and in the report."""
    parts = [STREAM_HEAD, *chunks([wire(type="t" * 200_000), *([end] if end else [])])]
    async with listen(sending(*parts)) as host:
        failure = await fail_among_others(f"http://{host}")
    assert type(failure.error) is RemoteStreamError
    assert len(str(failure.error)) < 500
    assert len(render_json_report(failure.report)) < 20_000


END = b"event: done\ndata: {}\n\n"
ODD_ENDS: dict[str, tuple[list[bytes], list[str]]] = {
    "as it should": ([STREAM_HEAD, *chunks([RUN_DONE, END])], []),
    "in one packet": ([STREAM_HEAD, b"".join(chunks([RUN_DONE + END]))], []),
    "no done": ([STREAM_HEAD, *chunks([RUN_DONE])], ["the stream ended after run.done, without `event: done`"]),
    "left open": (
        [STREAM_HEAD, next(iter(chunks([RUN_DONE])))],
        ["the stream was still open 1s after run.done, without `event: done`"],
    ),
    "garbage": (
        [STREAM_HEAD, *chunks([RUN_DONE, b"data: nope\n\n", END])],
        ["what came after run.done is wrong: an event is not JSON (Expecting value: line 1 column 1 (char 0)): 'nope'"],
    ),
    "an event": (
        [STREAM_HEAD, *chunks([RUN_DONE, wire(type="text.delta", text="late"), END])],
        ["'text.delta' came after run.done and is not part of the run"],
    ),
    "a second end": (
        [STREAM_HEAD, *chunks([RUN_DONE, wire(type="run.done", finishReason="error"), END])],
        ["a second run.done came, with the finish reason 'error'; only the first counts"],
    ),
    "not UTF-8": (
        [STREAM_HEAD, *chunks([b'data: {"type":"text.delta","text":"caf\xe9"}\n\n', RUN_DONE, END])],
        ["byte 38 of the stream is not UTF-8; U+FFFD replaces what cannot be decoded"],
    ),
}


@pytest.mark.parametrize("name", ODD_ENDS)
async def test_an_odd_end_is_a_warning(name: str) -> None:
    """How the stream ends behind `run.done` changes nothing about the run, and is said where it is odd."""
    parts, warnings = ODD_ENDS[name]
    [result] = (await run_against(*parts)).results
    assert (result.status, result.run.reply) == ("passed", "Hello.")
    assert list(result.run.warnings) == warnings


async def test_looking_at_the_end_takes_no_time_of_the_run() -> None:
    """A deployment that leaves its stream open is not slower for it: a run's time ends with its `run.done`."""
    [result] = (await run_against(*ODD_ENDS["left open"][0])).results
    assert result.duration_ms < 900


async def test_a_connection_that_breaks_behind_the_end_is_a_warning() -> None:
    """A reset behind `run.done` takes nothing from the run that is there."""

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, next(iter(chunks([RUN_DONE])))])
        await asyncio.sleep(0.05)
        connection.reset()

    async with listen(answer) as host:
        report = await EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT)).arun([Eval("a", greet)])
    assert report.results[0].status == "passed"
    assert report.results[0].run.warnings == ("the stream broke off after run.done, without `event: done`",)


def of(run_id: str, *frames: dict[str, Any]) -> bytes:
    """Return events of one run as they are sent."""
    return b"".join(wire(**{**one, "runId": run_id}) for one in frames)


MINE = (
    {"type": "run.start"},
    {"type": "text.delta", "text": "No such order."},
    {"type": "run.done", "finishReason": "stop", "text": "No such order."},
)
OTHERS = (
    {"type": "text.delta", "text": "It shipped."},
    {"type": "run.done", "finishReason": "stop", "text": "Shipped."},
)


@pytest.mark.parametrize(
    "stream",
    [of("zz", *OTHERS) + of("r1", *MINE), of("zz", OTHERS[0]) + of("r1", *MINE), of("zz", *OTHERS) + of("r1", MINE[0])],
    ids=["the end of another run first", "a piece of another run first", "another run before a start"],
)
async def test_a_stream_that_begins_in_another_run_is_no_answer(stream: bytes) -> None:
    """Where nothing tells which of two runs was asked for, neither is judged: no case is green on another's answer."""
    async with listen(sending(STREAM_HEAD, *chunks([stream]))) as host:
        report = await EvalRunner(RemoteTarget(f"http://{host}", limits=PATIENT)).arun([Eval("a", greet)])
    [result] = report.results
    assert result.status == "error"
    assert result.error is not None
    assert "two runs came in one stream" in result.error.message


async def test_another_runs_events_behind_ones_own_start_are_left_out() -> None:
    """A stream that began as this turn's is this turn's; what comes in between is a warning."""
    stream = of("r1", MINE[0]) + of("zz", *OTHERS) + of("r1", *MINE[1:]) + END
    [result] = (await run_against(STREAM_HEAD, *chunks([stream]))).results
    assert (result.status, result.run.reply) == ("passed", "No such order.")
    assert len(result.run.warnings) == 1


async def test_a_stream_that_is_done_before_its_run_is_broken() -> None:
    """`event: done` without a `run.done` before it ends the stream, and there is no run to judge."""
    async with listen(sending(STREAM_HEAD, *chunks([wire(type="text.delta", text="x"), END, RUN_DONE]))) as host:
        failure = await fail_among_others(f"http://{host}")
    assert type(failure.error) is RemoteStreamError
    assert failure.error.happened == "the stream ended after text.delta, before run.done"
