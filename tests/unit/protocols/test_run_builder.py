"""What a client of the `/chat` protocol must get right, rule by rule."""

import json
from typing import Any

import pytest

from remote_evals.results import RunError, RunResult
from remote_evals.results.run import combine_runs
from tests.builders import agent, ended, fold, frame, started, usage

RESEARCHER = agent("researcher", "call_1")


def step(number: int = 1, **fields: Any) -> list[dict[str, Any]]:
    return [frame("step.start", step=number, **fields), frame("step.done", step=number, **fields)]


def done(reason: str = "stop", **fields: Any) -> dict[str, Any]:
    return frame("run.done", finishReason=reason, **fields)


def tokens(total: int, **fields: Any) -> dict[str, Any]:
    return {"inputTokens": total, "outputTokens": 0, "totalTokens": total, **fields}


def calls_of(run: RunResult) -> list[tuple[str, str, tuple[str, ...], str | None]]:
    return [(call.name, call.id, call.subagent_path, call.outcome) for call in run.tool_calls]


def test_rule_1_the_finish_reason_tells_a_failed_run() -> None:
    """A failed run has the empty reply of its end, not the text that streamed before, and its error's name and code."""
    error = {"name": "ProviderError", "message": "hidden", "code": "E42"}
    run = fold(
        frame("step.start"), frame("text.delta", text="Half a"), frame("error", error=error), done("error", text="")
    )
    assert (run.finish_reason, run.reply, run.usage) == ("error", "", None)
    assert run.error == RunError(name="ProviderError", message="hidden", code="E42")
    assert not run.ended_normally


def test_rule_2_a_stream_without_a_start_is_a_run() -> None:
    """A run that failed before it could start is whole, and its id is that of its end."""
    run = fold(frame("error", error={"name": "NotReady"}, runId="run-9"), done("error", text="", runId="run-9"))
    assert (run.finish_reason, run.run_id, run.error) == ("error", "run-9", RunError(name="NotReady"))


def test_rule_3_odd_characters_are_kept_as_they_came() -> None:
    """Line separators, NUL and lone surrogates stand in the reply, the args and the names as the server sent them."""
    odd = json.loads('"\u2028\u2029\u0085 \\ud83d \\u0000"')
    run = fold(started(odd, odd, {odd: odd}), ended(odd, odd, odd), done(text=odd, object={odd: odd}))
    assert (run.reply, run.object) == (odd, {odd: odd})
    assert (run.tool_calls[0].name, run.tool_calls[0].args, run.tool_calls[0].result) == (odd, {odd: odd}, odd)


def test_rule_4_parallel_calls_keep_the_order_of_their_starts() -> None:
    """Calls are listed as they started, each with its own result, whichever ended first."""
    run = fold(started("a", "slow"), started("b", "fast"), ended("b", "fast", 2), ended("a", "slow", 1), done())
    assert [(call.name, call.result) for call in run.tool_calls] == [("slow", 1), ("fast", 2)]


def test_rule_4_a_call_id_repeats_across_agents() -> None:
    """The lead's, a sub-agent's and another instance's `call_1` are calls of their own, each with its own end."""
    first, second = RESEARCHER, agent("researcher", "call_2")
    run = fold(
        started("call_1", "task"),
        started("call_2", "task"),
        started("call_1", "search", subagent=first),
        started("call_1", "search", subagent=second),
        ended("call_1", "search", "of the second", subagent=second),
        ended("call_1", "task", "of the lead"),
        frame("tool.error", toolCallId="call_1", toolName="search", error={"name": "Broken"}, subagent=first),
    )
    assert [call.result for call in run.tool_calls] == ["of the lead", None, None, "of the second"]
    assert [call.outcome for call in run.tool_calls] == ["ok", None, "error", "ok"]


def test_rule_5_steps_are_those_of_the_lead() -> None:
    """The steps and the text of sub-agents do not count as the run's own."""
    run = fold(
        *step(), frame("text.delta", text="I search", subagent=RESEARCHER), *step(subagent=RESEARCHER), *step(2), done()
    )
    assert (run.steps, run.reply) == (2, "")
    assert "steps" not in run.missing


def test_rule_5_usage_is_that_of_the_end() -> None:
    """Tokens are those of `run.done`, which include the sub-agents', and never the sum of the steps."""
    run = fold(frame("step.start"), frame("step.done", usage=tokens(70)), done(usage=tokens(190, modelCalls=4)))
    assert run.usage == usage(190, None, model_calls=4)


def test_rule_6_a_continuation_replaces_the_usage_and_adds_its_steps() -> None:
    """After an approval the run goes on: one call, both parts' steps, the later usage and end, and nothing pending."""
    paused = [
        *step(),
        started("c", "send"),
        frame("approval.requested", approvalId="a", toolCallId="c", toolName="send"),
    ]
    resumed = frame("tool.resume", toolCallId="c", toolName="send", args={}, runId="run-2")
    run = fold(
        *paused,
        done("awaiting-approval", text="", usage=tokens(24)),
        frame("run.start", runId="run-2"),
        resumed,
        ended("c", "send", {"sent": True}, runId="run-2"),
        *step(2, runId="run-2"),
        done(text="Sent.", usage=tokens(63), runId="run-2"),
    )
    assert calls_of(run) == [("send", "c", (), "ok")]
    assert (run.steps, run.usage, run.reply, run.run_id) == (2, usage(63, None), "Sent.", "run-2")
    assert run.pending_approval is None


def test_rule_6_a_call_that_is_resumed_alone_is_one_call() -> None:
    """A continuation that is read without the pause before it still shows the call that it resumes."""
    run = fold(frame("tool.resume", toolCallId="c", toolName="send", args={"to": "a"}), ended("c", "send"), done())
    assert calls_of(run) == [("send", "c", (), "ok")]
    assert run.tool_calls[0].args == {"to": "a"}


def test_rule_7_a_delegating_call_that_paused_and_goes_on_is_one_call() -> None:
    """The placeholder that ends a delegating call is replaced when the call is resumed; it was never called twice."""
    resumed = [
        frame("tool.resume", toolCallId="call_1", toolName="task", args={}),
        frame("tool.resume", toolCallId="call_1", toolName="send", args={}, subagent=RESEARCHER),
    ]
    run = fold(
        started("call_1", "task"),
        started("call_1", "send", subagent=RESEARCHER),
        frame("approval.requested", approvalId="a", toolCallId="call_1", toolName="send"),
        ended("call_1", "task", "paused"),
        done("awaiting-approval", text=""),
        *resumed,
        ended("call_1", "send", "sent", subagent=RESEARCHER),
        ended("call_1", "task", "the sub-agent sent it"),
        done(text="Sent."),
    )
    assert calls_of(run) == [("task", "call_1", (), "ok"), ("send", "call_1", ("researcher",), "ok")]
    assert run.tool_calls[0].result == "the sub-agent sent it"


def test_rule_7_a_pause_of_a_subagent_is_pending_for_the_run() -> None:
    """A sub-agent's approval carries no sub-agent, and the run still shows what waits."""
    request = frame("approval.requested", approvalId="a", toolCallId="c", toolName="send", args={"to": "x"})
    run = fold(
        started("call_1", "task"), request, ended("call_1", "task", "paused"), done("awaiting-approval", text="")
    )
    assert run.pending_approval is not None
    assert (run.pending_approval.tool, run.pending_approval.args) == ("send", {"to": "x"})


def test_rule_8_turns_of_a_session_add_up_in_order() -> None:
    """The turns of a conversation, one after another, are one run: calls in order, the last reply, all the steps."""
    first = fold(*step(), started("c", "one"), ended("c", "one"), done(text="1", usage=tokens(10)), turn=1)
    second = fold(*step(), started("c", "two"), ended("c", "two"), done(text="2", usage=tokens(20)), turn=2)
    whole = combine_runs([first, second])
    assert [(call.name, call.turn) for call in whole.tool_calls] == [("one", 1), ("two", 2)]
    assert (whole.reply, whole.steps, whole.usage) == ("2", 2, usage(30, None))


def test_rule_9_a_stream_that_was_left_keeps_what_it_had() -> None:
    """Of a stream that was left, the text so far and the open call are known, and that it never ended."""
    run = fold(frame("run.start"), frame("step.start"), frame("text.delta", text="On it"), started("c", "refund"))
    assert (run.reply, run.finish_reason, run.last_event, run.run_id) == ("On it", None, "tool.start", "run-1")
    assert calls_of(run) == [("refund", "c", (), None)]
    assert run.missing == ("usage", "steps", "cost")


def test_rule_10_an_answer_of_error_and_end_reports_no_numbers() -> None:
    """A session whose turn is paused answers with an error and an end: nothing was used, and nothing is counted."""
    run = fold(frame("error", error={"name": "PendingApprovalError"}), done("error", text=""))
    assert (run.steps, run.tool_calls, run.missing) == (0, (), ("usage", "steps", "cost"))


def test_reasoning_is_never_part_of_the_reply() -> None:
    """What a model thinks is not what it says."""
    thought = [frame(f"reasoning.{part}", text="hmm") for part in ("start", "delta", "done")]
    assert fold(*thought, frame("text.delta", text="Hello")).reply == "Hello"


@pytest.mark.parametrize("part", ["Hello, ", ""], ids=["streamed", "with an empty delta"])
def test_a_whole_block_does_not_repeat_its_deltas(part: str) -> None:
    """`text.done` repeats the deltas before it, and is the text where the server streamed none that says anything."""
    deltas = (
        [frame("text.delta", text=part), frame("text.delta", text="you")] if part else [frame("text.delta", text="")]
    )
    assert fold(*deltas, frame("text.done", text=f"{part}you")).reply == f"{part}you"
