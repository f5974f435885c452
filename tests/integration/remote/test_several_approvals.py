"""Runs that wait for several decisions at once, decided as data and in code, over the wire."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from remote_evals import Eval, EvalCase, EvalContext, EvalResult, EvalRunner, RemoteTarget
from remote_evals.reporters import render_json_report, render_summary
from tests.serving.deployments import PATIENT, serve

WIRE = {"name": "wire_money", "args": {"eur": 900}, "approval": True, "result": "sent"}
DROP = {"name": "delete_db", "approval": True, "result": "gone"}
ASK = {"name": "ask_user", "question": {"text": "To which card?"}}
PAUSES = pytest.mark.parametrize("pauses", ["together", "together-repeated"])


def reply(*tools: Mapping[str, Any], pauses: str = "together") -> dict[str, Any]:
    """Return a reply of one step with these tools, which pauses once for all of them."""
    return {"pauses": pauses, "steps": [{"tools": tools or (WIRE, DROP)}, {"text": "Done."}]}


def decide(test: Any, *replies: dict[str, Any]) -> tuple[EvalResult, list[Any]]:
    """Return the result of a case, and the bodies of the decisions that it sent."""
    runnable = test if isinstance(test, EvalCase) else Eval("a", test)
    with serve(*replies or [reply()]) as server:
        [result] = EvalRunner(RemoteTarget(server.url, limits=PATIENT), timeout_s=30).run(runnable).results
        return result, [request.body for request in server.requests if "approvals" in request.path]


def of_turns(*decisions: Mapping[str, Any], **case: Any) -> EvalCase:
    """Return a case that sends a prompt and makes these decisions."""
    return EvalCase.model_validate({"name": "a", "turns": [{"prompt": "go"}, *decisions], **case})


def outcomes(result: EvalResult) -> dict[str, str | None]:
    """Return how each tool call ended."""
    return {call.name: call.outcome for call in result.run.tool_calls}


@PAUSES
def test_decisions_go_to_the_calls_in_the_order_of_asking(pauses: str) -> None:
    """The first decision is about the call that was asked about first, and nothing runs until the last."""
    result, sent = decide(of_turns({"approve": True}, {"reject": "never"}), reply(pauses=pauses))
    assert result.passed, (result.error, result.failures)
    assert sent == [{"approved": True}, {"approved": False, "note": "never"}]
    assert outcomes(result) == {"wire_money": "ok", "delete_db": "error"}
    assert (len(result.turns), result.iterations, result.run.pending_approvals) == (1, 2, ())


@PAUSES
def test_a_decision_may_name_its_call(pauses: str) -> None:
    """A decision that names a tool is about its call, whatever the order, and there is nothing to warn of."""
    turns = ({"reject": True, "tool": "delete_db"}, {"approve": True, "tool": "wire_money"})
    result, _ = decide(of_turns(*turns), reply(pauses=pauses))
    assert result.passed, (result.error, result.failures)
    assert outcomes(result) == {"wire_money": "ok", "delete_db": "error"}
    assert result.case_warnings == ()


@pytest.mark.parametrize("key", ["approve", "reject", "answer"])
def test_a_name_that_is_not_pending_sends_nothing(key: str) -> None:
    """A decision about a call that nothing waits for fails, sends nothing, and ends the conversation."""
    result, sent = decide(of_turns({key: "x", "tool": "wire_mony"}, {"approve": True}, {"approve": True}))
    assert (result.status, sent) == ("failed", [])
    failure = result.failures[0]
    assert failure.key == f"{key}:wire_mony"
    assert failure.message == (
        f"{key}(tool='wire_mony') failed: no call of 'wire_mony' waits for a decision, so nothing was sent; "
        "waiting: wire_money, delete_db"
    )
    assert outcomes(result) == {"wire_money": None, "delete_db": None}


def test_a_decision_without_a_name_warns_while_several_are_pending() -> None:
    """The first of two decisions without a name is warned about, in reports too; the second is about the only one."""
    case = of_turns({"approve": True}, {"approve": True})
    with serve(reply()) as server:
        report = EvalRunner(RemoteTarget(server.url, limits=PATIENT)).run(case)
    [result] = report.results
    warning = (
        "approve() named no tool while 2 requests were pending (wire_money, delete_db), and went to the first; "
        "name it: tool='wire_money' in code, `tool: wire_money` in data"
    )
    assert (result.status, result.case_warnings) == ("passed", (warning,))
    assert f"warning: {warning}" in " ".join(render_summary(report).split())
    assert json.loads(render_json_report(report))["results"][0]["case_warnings"] == [warning]


@PAUSES
def test_all_may_be_approved_at_once(pauses: str) -> None:
    """`approve: all` approves each pending call by a request of its own, without a warning."""
    result, sent = decide(of_turns({"approve": "all", "must_contain": "Done."}), reply(pauses=pauses))
    assert result.passed, (result.error, result.failures)
    assert sent == [{"approved": True}] * 2
    assert (outcomes(result), result.case_warnings) == ({"wire_money": "ok", "delete_db": "ok"}, ())


def test_all_of_nothing_is_a_failed_check() -> None:
    """`approve: all` where nothing waits fails."""
    result, sent = decide(of_turns({"approve": "all"}), {"text": "Hello."})
    assert (result.status, sent, result.failures[0].name) == ("failed", [], "approve()")


def test_an_approval_may_edit_the_arguments() -> None:
    """The edited arguments are sent, and those that the call went on with are the ones that are checked."""
    tools = [{"name": "wire_money", "args": {"eur": 1}, "outcome": "ok", "times": 1}]
    case = of_turns({"approve": "less", "args": {"eur": 1}}, expected_tools=tools)
    result, sent = decide(case, reply(WIRE))
    assert result.passed, (result.error, result.failures)
    assert sent == [{"approved": True, "note": "less", "args": {"eur": 1}}]


def test_an_answer_goes_to_the_question() -> None:
    """An answer without a name never approves another call, and an approval never answers a question."""
    result, sent = decide(of_turns({"answer": "Visa"}, {"approve": True}), reply(WIRE, ASK))
    assert result.passed, (result.error, result.failures)
    assert (sent, result.case_warnings) == ([{"answer": "Visa"}, {"approved": True}], ())
    assert [call.result for call in result.run.tool_calls] == ["sent", {"answer": "Visa"}]


async def test_what_is_pending_is_a_sequence() -> None:
    """`t.pending` has every request in order and the attributes of the first, and is None once all are decided."""
    seen: list[Any] = []

    async def test(t: EvalContext) -> None:
        await t.send("go")
        assert t.pending
        seen.append(([one.tool for one in t.pending], len(t.pending), t.pending.tool, t.pending[1].args))
        await t.approve(tool="delete_db")
        seen.append(t.pending and [one.tool for one in t.pending])
        t.ended("awaiting-approval")
        await t.reject("no", tool="wire_money")
        seen.append(t.pending)
        t.completed()

    result, _ = decide(test)
    assert result.passed, (result.error, result.failures)
    assert seen == [(["wire_money", "delete_db"], 2, "wire_money", {}), ["wire_money"], None]


def test_an_attribute_that_no_request_has_is_none_of_pending() -> None:
    """A misspelt attribute of `t.pending` raises as one of any object does."""

    def check(t: Any) -> None:
        with pytest.raises(AttributeError, match="no attribute 'tol'"):
            _ = t.pending.tol

    async def test(t: EvalContext) -> None:
        await t.send("go")
        check(t)
        t.ended("awaiting-approval")

    assert decide(test)[0].passed


def test_a_report_has_all_that_is_pending() -> None:
    """A report lists what a run waits for, the first also by itself, and the message names each."""
    with serve(reply()) as server:
        report = EvalRunner(RemoteTarget(server.url, limits=PATIENT)).run(EvalCase(name="a", prompt="go"))
    [row] = json.loads(render_json_report(report))["results"]
    assert [one["tool"] for one in row["pending_approvals"]] == ["wire_money", "delete_db"]
    assert row["pending_approval"] == row["pending_approvals"][0]
    assert (
        "paused for a decision on wire_money, delete_db; decide each in a turn of its own"
        in row["assertions"][0]["message"]
    )


def test_a_pause_of_a_sub_agent_may_have_several_calls() -> None:
    """The calls that a sub-agent waits for are decided like those of the lead."""
    task = {"name": "task", "subagent": {"name": "clerk", "steps": [{"tools": [WIRE, DROP]}], "text": "ok"}}
    result, _ = decide(of_turns({"approve": True, "tool": "delete_db"}, {"reject": True}), reply(task))
    assert result.passed, (result.error, result.failures)
    assert outcomes(result) == {"task": "ok", "wire_money": "error", "delete_db": "ok"}
