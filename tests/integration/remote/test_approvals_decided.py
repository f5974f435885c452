"""Runs that wait for a decision, decided by evals in code and as data, over the wire."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from remote_evals import (
    Eval,
    EvalCase,
    EvalContext,
    EvalResult,
    EvalRunner,
    RemoteTarget,
    define_eval,
    equals,
    includes,
    load_suites,
    make_evals,
)
from tests.serving.deployments import PATIENT, REFUND, serve

CARD: dict[str, Any] = {
    "when": {"input": "card"},
    "steps": [
        {"tools": [{"name": "ask_user", "question": {"text": "To which card?", "options": ["Visa", "Other"]}}]},
        {"text": "To Visa."},
    ],
}
TWICE: dict[str, Any] = {
    "when": {"input": "twice"},
    "steps": [
        {"tools": [{"name": "issue_refund", "approval": True, "result": 1}]},
        {"tools": [{"name": "send_email", "approval": True, "result": 2}]},
        {"text": "Both."},
    ],
}
DELEGATED: dict[str, Any] = {
    "when": {"input": "delegate"},
    "steps": [
        {
            "tools": [
                {
                    "name": "task",
                    "args": {"agent": "clerk"},
                    "subagent": {
                        "name": "clerk",
                        "steps": [{"tools": [{"name": "issue_refund", "approval": True, "result": "refunded"}]}],
                        "text": "Refunded.",
                    },
                }
            ]
        },
        {"text": "The clerk did it."},
    ],
}
HELLO = {"text": "You said {{input}}."}


def decide(test: Any, *replies: dict[str, Any], **script: Any) -> tuple[EvalResult, list[tuple[str, str, Any]]]:
    """Return the result of a case against a deployment that pauses, and the requests that it took."""
    runnable = test if isinstance(test, EvalCase) else Eval("a", test)
    with serve(*replies or [REFUND, CARD, TWICE, DELEGATED, HELLO], **script) as server:
        [result] = EvalRunner(RemoteTarget(server.url, limits=PATIENT), timeout_s=30).run(runnable).results
        requests = [(request.method, request.path, request.body) for request in server.requests]
    return result, requests


def of_turns(*turns: Mapping[str, Any], **case: Any) -> EvalCase:
    return EvalCase.model_validate({"name": "a", "turns": turns, **case})


@pytest.mark.parametrize("note", [None, "fine by me"])
async def test_an_approved_run_goes_on(note: str | None) -> None:
    """After `t.approve` the run is one run to its end: one call, steps added, and the later usage for both parts."""
    seen: list[Any] = []

    async def test(t: EvalContext) -> None:
        paused = await t.send("refund")
        seen.append((paused.finish_reason, t.pending and (t.pending.tool, t.pending.args, t.pending.question)))
        done = await (t.approve() if note is None else t.approve(note))
        seen.append((done is t.results[-1], len(t.results), t.pending))
        t.completed()
        t.called_tool("issue_refund", args={"id": "41"}, times=1, outcome="ok")
        t.output_contains("Done.")
        t.max_steps(2)
        t.max_tokens(37)
        t.max_cost_usd(0.003001)

    result, requests = decide(test)
    assert result.passed, (result.error, result.failures)
    assert seen == [("awaiting-approval", ("issue_refund", {"id": "41"}, None)), (True, 1, None)]
    assert (result.iterations, result.run.usage and result.run.usage.total_tokens) == (2, 37)
    [call] = result.run.tool_calls
    assert (call.outcome, call.result, call.turn) == ("ok", "refunded", 1)
    assert [method for method, _, _ in requests] == ["POST", "POST"]
    assert requests[1][1].startswith(f"/chat/{result.session_id}/approvals/")
    assert requests[1][2] == ({"approved": True} if note is None else {"approved": True, "note": note})


async def test_a_rejected_call_failed_and_the_run_goes_on() -> None:
    """After `t.reject` the call has ended with an error, and the run comes to its own end."""

    async def test(t: EvalContext) -> None:
        await t.send("refund")
        await t.reject("too much")
        t.completed()
        t.called_tool("issue_refund", times=1, outcome="error")
        t.check("why", t.tool_calls[0].error and t.tool_calls[0].error.name, equals("ToolRejectedError"))

    result, requests = decide(test)
    assert result.passed, (result.error, result.failures)
    assert requests[1][2] == {"approved": False, "note": "too much"}


async def test_an_answered_question_goes_on() -> None:
    """`t.pending` shows the question, and after `t.answer` the answer is the result of the call."""

    async def test(t: EvalContext) -> None:
        await t.send("card")
        assert t.pending is not None
        t.check("question", (t.pending.question or {}).get("text"), equals("To which card?"))
        await t.answer("Visa")
        t.completed()
        t.check("result", json.dumps(t.tool_calls[0].result), includes("Visa"))

    result, requests = decide(test)
    assert result.passed, (result.error, result.failures)
    assert requests[1][2] == {"answer": "Visa"}


def test_plain_functions_decide_too() -> None:
    """A plain function approves without `await`."""

    def test(t: Any) -> None:
        t.send("refund")
        t.check("tool", t.pending.tool, equals("issue_refund"))
        t.approve()
        t.completed()

    [result] = [decide(eval_.run)[0] for eval_ in define_eval(name="a")(test).make_evals()]
    assert result.passed, (result.error, result.failures)


async def test_a_pause_that_was_asserted_is_over_once_it_is_decided() -> None:
    """After `t.ended("awaiting-approval")` and a decision the run's own end is what counts, for absence too."""

    async def test(t: EvalContext) -> None:
        await t.send("refund")
        t.ended("awaiting-approval")
        await t.approve()
        t.completed()
        t.called_tool("issue_refund", times=1)
        t.not_called_tool("cancel")
        t.output_not_contains("sorry")

    result, _ = decide(test)
    assert result.passed, [failure.message for failure in result.failures]


async def test_a_run_may_wait_twice() -> None:
    """A run that pauses again is decided again, each time on what it waits for then, and stays one run."""

    async def test(t: EvalContext) -> None:
        await t.send("twice")
        await t.approve()
        t.ended("awaiting-approval")
        t.check("waits for", t.pending and t.pending.tool, equals("send_email"))
        await t.approve()
        t.completed()
        t.tool_order(["issue_refund", "send_email"])

    result, _ = decide(test)
    assert result.passed, (result.error, result.failures)
    assert (len(result.turns), result.iterations, [call.result for call in result.run.tool_calls]) == (1, 3, [1, 2])


async def test_a_conversation_goes_on_after_a_decision() -> None:
    """After a decided turn the next prompt is the next turn, and both count."""

    async def test(t: EvalContext) -> None:
        await t.send("refund")
        await t.approve()
        await t.send("thanks")
        t.completed()
        t.output_contains("You said thanks.")

    result, _ = decide(test)
    assert result.passed, (result.error, result.failures)
    assert [turn.turn for turn in result.turns] == [1, 2]
    assert [turn.finish_reason for turn in result.turns] == ["stop", "stop"]


async def test_a_sub_agent_may_wait() -> None:
    """What a sub-agent waits for is decided as any other; the call is one, under its sub-agent, and found by it."""

    async def test(t: EvalContext) -> None:
        await t.send("delegate")
        t.check("waits for", t.pending and t.pending.tool, equals("issue_refund"))
        await t.approve()
        t.completed()
        t.called_tool("issue_refund", subagent="clerk", times=1, outcome="ok")
        t.called_tool("issue_refund", times=1)
        t.called_tool("task", times=1, outcome="ok")
        t.not_called_tool("task", subagent="clerk")
        t.output_contains("The clerk did it.")

    result, _ = decide(test)
    failures = [failure.message for failure in result.failures]
    assert (result.error, failures) == (None, [])
    assert [(call.name, call.subagent_path) for call in result.run.tool_calls] == [
        ("task", ()),
        ("issue_refund", ("clerk",)),
    ]
    assert result.iterations == 2


@pytest.mark.parametrize("verb", ["approve", "reject", "answer"])
async def test_nothing_pending_is_a_failed_check(verb: str) -> None:
    """A decision where nothing waits is a failed gate and reaches nobody; the run stays as it is."""

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        before = t.results[-1]
        after = await (t.answer("x") if verb == "answer" else getattr(t, verb)())
        assert after == before
        t.completed()

    result, requests = decide(test)
    assert (result.status, result.error) == ("failed", None)
    [failure] = result.failures
    assert failure.name == f"{verb}()"
    assert "nothing waits for a decision" in failure.message
    assert len(requests) == 1


async def test_a_decision_before_any_turn_is_a_failed_check_too() -> None:
    """A decision before anything was sent fails, and nothing is sent for it."""

    async def test(t: EvalContext) -> None:
        await t.approve()
        await t.send("hi")

    result, requests = decide(test)
    assert (result.status, len(requests)) == ("failed", 1)


async def test_a_prompt_while_a_run_waits_is_that_run_failing() -> None:
    """A prompt in place of a decision is refused by the deployment, which fails that turn."""

    async def test(t: EvalContext) -> None:
        await t.send("refund")
        await t.send("hello?")
        t.completed()

    result, _ = decide(test)
    assert result.status == "failed"
    assert "SessionAwaitingApprovalError" in result.failures[0].message


async def test_a_decision_that_fails_keeps_the_paused_run() -> None:
    """When the deployment refuses a decision the case is an error, and what was seen of the run is in its result."""
    fault = {"name": "server-error", "request": "approval"}

    async def test(t: EvalContext) -> None:
        await t.send("refund")
        await t.approve()

    result, _ = decide(test, {**REFUND, "fault": fault})
    assert (result.status, result.error and result.error.code) == ("error", "REMOTE_STATUS")
    assert [(len(result.turns), call.name) for call in result.run.tool_calls] == [(1, "issue_refund")]


async def test_the_transcript_proves_the_store() -> None:
    """`t.transcript()` reads back what the deployment keeps of this session, also after a decision."""
    kept: list[dict[str, Any]] = []

    async def test(t: EvalContext) -> None:
        await t.send("hi")
        await t.send("refund")
        await t.approve()
        kept.extend(await t.transcript())
        t.check("kept", json.dumps(kept), includes("You said hi."))

    result, requests = decide(test)
    assert result.passed, (result.error, result.failures)
    assert requests[-1][:2] == ("GET", f"/chat/{result.session_id}")
    assert [message["role"] for message in kept][:2] == ["user", "assistant"]
    assert "Done." in json.dumps(kept)


@pytest.mark.parametrize(
    ("decision", "body"),
    [
        ({"approve": True}, {"approved": True}),
        ({"approve": "fine"}, {"approved": True, "note": "fine"}),
        ({"reject": "why"}, {"approved": False, "note": "why"}),
        ({"reject": True}, {"approved": False}),
    ],
    ids=str,
)
def test_turns_as_data_decide(decision: dict[str, Any], body: dict[str, Any]) -> None:
    """A turn that approves or rejects decides on the turn before it, whose pause is then no failure."""
    outcome = "ok" if "approve" in decision else "error"
    tools = [{"name": "issue_refund", "times": 1, "outcome": outcome}]
    case = of_turns({"prompt": "refund"}, {**decision, "must_contain": "Done."}, expect_tools=tools, max_steps=2)
    result, requests = decide(case)
    assert result.passed, (result.error, result.failures)
    assert (requests[1][2], len(result.turns)) == (body, 1)


def test_a_turn_as_data_answers() -> None:
    """A turn with an answer answers the question that the turn before it waits with."""
    result, requests = decide(
        of_turns({"prompt": "card"}, {"answer": "Visa", "must_contain": "visa"}, {"prompt": "bye"})
    )
    assert result.passed, (result.error, result.failures)
    assert (requests[1][2], len(result.turns)) == ({"answer": "Visa"}, 2)


def test_a_pause_that_no_turn_decides_fails() -> None:
    """A case whose run waits for a decision that no turn gives has not come to its end."""
    result, requests = decide(of_turns({"prompt": "refund"}, {"prompt": "hi"}))
    assert (result.status, len(requests)) == ("failed", 1)
    assert "paused for a decision on issue_refund" in result.failures[0].message


def test_a_pause_that_is_asked_for_passes() -> None:
    """A case that asks for the pause passes by it, as a test that a gate is there."""
    case = EvalCase(name="a", prompt="refund", finish_reason="awaiting-approval", expected_tools=("issue_refund",))
    assert decide(case)[0].passed


def test_a_turn_as_data_with_nothing_to_decide_fails() -> None:
    """A turn that decides where the run before it came to its end fails, and says that nothing was pending."""
    result, requests = decide(of_turns({"prompt": "hi"}, {"approve": True}))
    assert (result.status, len(requests)) == ("failed", 1)
    assert "nothing waits for a decision" in result.failures[0].message


def test_checks_of_a_decided_turn_see_the_whole_of_it() -> None:
    """The checks of a decision see the call before the pause and the end behind it, as that is one turn."""
    case = of_turns(
        {"prompt": "hi"},
        {"prompt": "refund", "finish_reason": "awaiting-approval"},
        {"approve": True, "expect_tools": [{"name": "issue_refund", "outcome": "ok"}], "max_steps": 2},
    )
    result, _ = decide(case)
    assert result.passed, (result.error, result.failures)
    assert result.assertions[-1].turn == 2


def test_a_sub_agents_pause_is_decided_by_data() -> None:
    """A turn as data decides on what a sub-agent waits for, and `subagent` narrows a check to it."""
    tools = [{"name": "issue_refund", "subagent": "clerk", "times": 1}]
    result, _ = decide(of_turns({"prompt": "delegate"}, {"approve": True}, expect_tools=tools))
    assert result.passed, (result.error, result.failures)


def test_a_suite_file_decides(tmp_path: Any) -> None:
    """The turns of the issue stand in a suite file as they are."""
    path = tmp_path / "approvals.eval.yaml"
    path.write_text(
        "cases:\n"
        "- name: approved\n  turns: [{prompt: refund}, {approve: true, must_contain: Done}]\n"
        "- name: rejected\n  turns: [{prompt: refund}, {reject: why}]\n"
        "- name: answered\n  turns: [{prompt: card}, {answer: Visa}]\n",
        "utf-8",
    )
    with serve(REFUND, CARD) as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT))
        report = runner.run(make_evals(load_suites([str(path)], {})))
    assert [result.status for result in report.results] == ["passed"] * 3
