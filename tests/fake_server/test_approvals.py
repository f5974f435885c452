"""A turn pauses for a decision, and continues once it is made."""

from typing import Any

import pytest

from tests.fake_server.wire_client import ask, brief, decide, events_in, one, post, send, serve, transcript

EMAIL = {"name": "send_email", "args": {"to": "ada"}, "approval": True, "result": "sent", "duration": "5ms"}
REPLY = {"steps": [{"text": "Sending.", "tools": [EMAIL]}, {"text": "All done."}]}


def test_a_paused_turn_is_pending_and_not_in_the_transcript() -> None:
    """The transcript of a paused session has its approval as pending, and no messages of the turn."""
    with serve([REPLY]) as server:
        approval = one(ask(server), "approval.requested")
        pending = {"status": "awaiting-approval", "approvalId": approval["approvalId"]}
        assert transcript(server) == {"sessionId": "s", "messages": [], "pending": pending}


def test_an_approved_call_runs_and_the_turn_joins_the_transcript() -> None:
    """An approved call runs, and the transcript then has the whole turn and nothing pending."""
    with serve([REPLY]) as server:
        events = decide(server, ask(server), {"approved": True})
        assert (one(events, "tool.done")["result"], one(events, "tool.done")["durationMs"]) == ("sent", 5)
        messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "All done."}]
        assert transcript(server) == {"sessionId": "s", "messages": messages, "pending": None}


def test_a_rejected_call_is_an_error_and_the_turn_goes_on() -> None:
    """A rejected call fails without running, and the run continues to its end."""
    with serve([REPLY]) as server:
        events = decide(server, ask(server), {"approved": False, "note": "no"})
    assert one(events, "tool.error")["error"]["name"] == "ToolRejectedError"
    assert one(events, "tool.error")["durationMs"] == 0
    assert one(events, "run.done")["text"] == "All done."


def test_an_approved_call_can_fail() -> None:
    """An approved call has the error that the script gives it."""
    call = {"name": "boom", "approval": True, "error": {"name": "TypeError"}}
    with serve([{"steps": [{"tools": [call]}, {"text": "sorry"}]}]) as server:
        events = decide(server, ask(server), {"approved": True})
    assert one(events, "tool.error")["error"]["name"] == "TypeError"


def test_a_continuation_is_a_new_run_from_zero() -> None:
    """A continuation has a run id of its own, and its events are numbered from 0."""
    with serve([REPLY]) as server:
        asked = ask(server)
        events = decide(server, asked, {"approved": True})
    assert events[0]["type"] == "run.start"
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert events[0]["runId"] != asked[0]["runId"]


def test_the_usage_of_a_continuation_includes_the_paused_part() -> None:
    """The usage of a continuation is the sum over both parts of the turn."""
    steps = [{"tools": [EMAIL], "usage": {"input": 10}}, {"text": "x", "usage": {"input": 20}}]
    with serve([{"steps": steps}]) as server:
        asked = ask(server)
        events = decide(server, asked, {"approved": True})
    usages = [one(run, "run.done")["usage"] for run in (asked, events)]
    assert [(usage["inputTokens"], usage["modelCalls"]) for usage in usages] == [(10, 1), (30, 2)]


def test_the_named_usage_of_a_reply_is_that_of_its_end() -> None:
    """The usage that a reply gives is sent at the end of the turn, not at the pause."""
    with serve([{**REPLY, "usage": {"input": 99}}]) as server:
        asked = ask(server)
        events = decide(server, asked, {"approved": True})
    assert one(asked, "run.done")["usage"]["inputTokens"] != 99
    assert one(events, "run.done")["usage"]["inputTokens"] == 99


def test_a_decision_counts_once() -> None:
    """A second decision on the same approval is answered with 404."""
    with serve([REPLY]) as server:
        asked = ask(server)
        decide(server, asked, {"approved": True})
        path = f"/chat/s/approvals/{one(asked, 'approval.requested')['approvalId']}"
        assert send(server, "POST", path, json={"approved": True}).status_code == 404


def test_an_approval_of_another_session_is_unknown() -> None:
    """An approval id is only known in the session that it belongs to."""
    with serve([REPLY]) as server:
        approval = one(ask(server), "approval.requested")["approvalId"]
        answer = send(server, "POST", f"/chat/other/approvals/{approval}", json={"approved": True})
    assert answer.status_code == 404


def test_new_input_to_a_paused_session_fails_at_once() -> None:
    """New input to a paused session gets a failed run, and the session stays paused."""
    with serve([REPLY]) as server:
        ask(server)
        answer = post(server, "and now?")
        failed, done = events_in(answer.text)
        assert (failed["type"], failed["error"]["code"]) == ("error", "LOUSHO_SESSION_AWAITING_APPROVAL")
        assert (done["type"], done["finishReason"], done["text"]) == ("run.done", "error", "")
        assert transcript(server)["pending"] is not None


def test_calls_before_the_gated_one_report_and_calls_after_it_wait() -> None:
    """Calls before the pausing call are done before the pause, and calls after it start after the decision."""
    tools = [{"name": "before"}, EMAIL, {"name": "after"}]
    with serve([{"steps": [{"tools": tools}, {"text": "x"}]}]) as server:
        asked = ask(server)
        events = decide(server, asked, {"approved": True})
    assert brief(asked)[2:] == [
        "tool.start call_1",
        "tool.done call_1",
        "tool.start call_2",
        "approval.requested call_2",
        "step.done 1 awaiting-approval",
        "run.done awaiting-approval",
    ]
    assert brief(events)[1:6] == [
        "tool.resume call_2",
        "tool.done call_2",
        "tool.start call_3",
        "tool.done call_3",
        "step.start 2",
    ]


def test_two_gated_calls_of_a_step_pause_one_after_the_other() -> None:
    """Each of two pausing calls in one step waits for a decision of its own."""
    with serve([{"steps": [{"tools": [EMAIL, EMAIL]}, {"text": "both"}]}]) as server:
        first = ask(server)
        second = decide(server, first, {"approved": True})
        third = decide(server, second, {"approved": False})
    assert brief(second)[1:] == [
        "tool.resume call_1",
        "tool.done call_1",
        "tool.start call_2",
        "approval.requested call_2",
        "run.done awaiting-approval",
    ]
    assert one(third, "run.done")["text"] == "both"


def question(**more: Any) -> dict[str, Any]:
    """Return a reply that asks the user a question and then says `booked`."""
    asked = {"text": "Where to?", "options": ["Lisbon", "Oslo"], "allow_free_text": True}
    return {"steps": [{"tools": [{"name": "ask_user", "question": asked, **more}]}, {"text": "booked"}]}


def test_a_question_is_an_approval_of_its_own_kind() -> None:
    """A question is an approval request of kind `question`, with its text and options."""
    with serve([question()]) as server:
        approval = one(ask(server), "approval.requested")
    assert approval["kind"] == "question"
    assert approval["question"] == {"text": "Where to?", "options": ["Lisbon", "Oslo"], "allowFreeText": True}


@pytest.mark.parametrize(
    ("answer", "result"), [("oslo", {"answer": "oslo", "option": 1}), ("Rome", {"answer": "Rome"})]
)
def test_an_answer_is_the_result_of_the_question(answer: str, result: dict[str, Any]) -> None:
    """The result of a question is the answer, with the index of the option if it is one."""
    with serve([question()]) as server:
        events = decide(server, ask(server), {"answer": answer})
    assert one(events, "tool.done")["result"] == result


def test_a_question_can_have_a_result_of_the_script() -> None:
    """A result that the script gives replaces the answer."""
    with serve([question(result="noted")]) as server:
        assert one(decide(server, ask(server), {"answer": "Oslo"}), "tool.done")["result"] == "noted"


def test_a_question_can_be_declined() -> None:
    """A rejected question fails as declined."""
    with serve([question()]) as server:
        events = decide(server, ask(server), {"approved": False})
    assert one(events, "tool.error")["error"]["message"] == "The user declined to answer the question"


NESTED = {
    "steps": [
        {
            "tools": [
                {
                    "name": "task",
                    "subagent": {"name": "mailer", "steps": [{"tools": [EMAIL, EMAIL]}, {"text": "mailed"}]},
                }
            ]
        },
        {"text": "done"},
    ]
}


def test_a_subagents_pause_is_the_whole_runs() -> None:
    """A pause inside a sub-agent pauses the whole run, and only the lead agent requests the approval."""
    with serve([NESTED]) as server:
        asked = ask(server)
    assert brief(asked)[2:] == [
        "tool.start call_1",
        "mailer step.start 1",
        "mailer tool.start call_1",
        "mailer step.done 1 awaiting-approval",
        "tool.done call_1",
        "approval.requested call_1",
        "step.done 1 awaiting-approval",
        "run.done awaiting-approval",
    ]
    assert one(asked, "approval.requested")["toolName"] == "send_email"
    assert one(asked, "tool.done")["result"] == "[sub-agent 'mailer': paused, awaiting approval of 'send_email']"


def test_a_decision_reaches_the_subagent_that_waits_again_and_again() -> None:
    """Each of two decisions resumes the sub-agent that waits, and the lead agent continues after it."""
    with serve([NESTED]) as server:
        again = decide(server, ask(server), {"approved": True})
        events = decide(server, again, {"approved": True})
    assert brief(again)[1:] == [
        "tool.resume call_1",
        "mailer tool.resume call_1",
        "mailer tool.done call_1",
        "mailer tool.start call_2",
        "approval.requested call_2",
        "run.done awaiting-approval",
    ]
    assert brief(events)[1:] == [
        "tool.resume call_1",
        "mailer tool.resume call_2",
        "mailer tool.done call_2",
        "mailer step.start 2",
        "mailer text.delta",
        "mailer text.done",
        "mailer step.done 2 stop",
        "tool.done call_1",
        "step.start 2",
        "text.delta",
        "text.done",
        "step.done 2 stop",
        "run.done stop",
    ]


def test_a_delegation_can_need_an_approval_itself() -> None:
    """A call that delegates can pause before its sub-agent starts."""
    call = {"name": "task", "approval": True, "subagent": {"name": "mailer", "text": "mailed"}}
    with serve([{"steps": [{"tools": [call]}, {"text": "done"}]}]) as server:
        events = decide(server, ask(server), {"approved": True})
    assert brief(events)[1:3] == ["tool.resume call_1", "mailer step.start 1"]
    assert one(events, "run.done")["text"] == "done"


def test_a_rejected_delegation_never_starts() -> None:
    """The sub-agent of a rejected call emits no event."""
    call = {"name": "task", "approval": True, "subagent": {"name": "mailer", "text": "mailed"}}
    with serve([{"steps": [{"tools": [call]}, {"text": "done"}]}]) as server:
        events = decide(server, ask(server), {"approved": False})
    assert not [event for event in events if "subagent" in event]
