"""What ends a run, and that nothing behind the end, or absurd in it, counts."""

import json
from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalReport, EvalRunner, RemoteStreamError, RemoteTarget, render_json_report
from tests.integration.serving import (
    PATIENT,
    RUN_DONE,
    STREAM_HEAD,
    chunks,
    fail_among_others,
    greet,
    listen,
    sending,
)
from tests.unit.builders import frame, started


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
    assert failure.error.happened == "run.done came without a finishReason"
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
