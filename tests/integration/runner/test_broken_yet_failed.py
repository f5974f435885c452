"""If a run broke or lost events, only what was seen fails the case; what may have been lost does not."""

from typing import Any

import pytest

from remote_evals import Eval, EvalCase, EvalContext, EvalReport, EvalRunner, RemoteTarget, at_most
from remote_evals.cli.exits import decide_exit_code
from tests.serving.deployments import PATIENT, serve

REFUNDS: dict[str, Any] = {
    "steps": [{"tools": [{"name": "issue_refund", "args": {"id": 7}}]}, {"text": "I refunded it.", "usage": None}],
    "finish_reason": "length",
}


async def run(fault: dict[str, Any], **case: Any) -> EvalReport:
    """Return the report of one case against an agent that refunds, over a connection with a fault."""
    with serve({**REFUNDS, "fault": fault}) as server:
        made = EvalCase.model_validate({"name": "a", "prompt": "hi", **case})
        return await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun(made)


CUT = {"name": "cut", "after": 5}
GAP = {"name": "seq-gap", "after": 6}


@pytest.mark.parametrize("fault", [CUT, GAP], ids=["cut", "gap"])
@pytest.mark.parametrize(
    "case",
    [
        {"forbidden_tools": ["issue_refund"]},
        {"expected_tools": [{"name": "issue_refund", "times": 0}]},
        {"turns": [{"prompt": "hi", "forbidden_tools": "issue_refund"}]},
        {"max_steps": 0},
    ],
    ids=str,
)
async def test_what_was_seen_fails_the_case(fault: dict[str, Any], case: dict[str, Any]) -> None:
    """A forbidden call that was seen fails the case with exit code 1, even if the stream broke afterwards."""
    case = {"prompt": None, **case} if "turns" in case else case
    report = await run(fault, **case)
    [result] = report.results
    assert result.status == "failed"
    assert len(result.failures) >= 1
    assert decide_exit_code(report) == 1
    assert (result.error is not None) == (fault is CUT)


@pytest.mark.parametrize("fault", [CUT, GAP], ids=["cut", "gap"])
@pytest.mark.parametrize(
    "case",
    [
        {"expected_tools": ["track_parcel"], "finish_reason": "length"},
        {"forbidden_tools": ["track_parcel"], "finish_reason": "length"},
        {"tool_order": ["issue_refund", "track_parcel"], "finish_reason": "length"},
        {"must_contain": "in two days", "finish_reason": "length"},
    ],
    ids=str,
)
async def test_what_was_not_seen_fails_no_case(fault: dict[str, Any], case: dict[str, Any]) -> None:
    """If the failure may be due to lost events, the case is an error, not failed, with exit code 4."""
    report = await run(fault, **case)
    [result] = report.results
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code == "REMOTE_STREAM"
    assert decide_exit_code(report) == 4


@pytest.mark.parametrize("case", [{}, {"must_not_contain": "refunded", "finish_reason": "length"}], ids=str)
async def test_what_the_end_says_is_known_though_events_were_lost(case: dict[str, Any]) -> None:
    """The end and the reply of a run are in run.done, so a gap before it does not excuse them."""
    report = await run(GAP, **case)
    assert report.results[0].status == "failed"
    assert decide_exit_code(report) == 1


async def test_a_value_of_a_run_that_lost_events_is_not_checked() -> None:
    """A check in code of a value that may be incomplete does not pass: a lost event might change it."""

    async def no_refund(t: EvalContext) -> None:
        await t.send("hi")
        t.ended("length")
        t.check("no other call", len(t.tool_calls), at_most(1))

    with serve({**REFUNDS, "fault": GAP}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun(Eval("a", no_refund))
    [result] = report.results
    assert result.status == "error"
    assert "events were lost on the way" in result.assertions[-1].message


async def test_a_reply_that_was_still_streaming_is_not_the_last_one() -> None:
    """Text of a step that may not be the last does not fail the case."""
    report = await run({"name": "cut", "after": 9}, must_not_contain="I")
    assert report.results[0].status == "error"
