"""What an in-process agent may return, as a run."""

from types import SimpleNamespace
from typing import Any

import pytest

from remote_evals import RunResult, ToolCall, UsageError
from remote_evals.targets.agents import read_result


def test_text_is_the_reply_of_a_run_that_ended() -> None:
    """Text is a run that ended normally and reported nothing else."""
    run = read_result("Hello.")
    assert (run.reply, run.finish_reason, run.missing) == ("Hello.", "stop", ("usage", "steps", "cost"))


def test_a_run_is_taken_as_it_is() -> None:
    """A `RunResult` is the run itself."""
    run = RunResult(reply="x", finish_reason="length")
    assert read_result(run) is run


@pytest.mark.parametrize("key", ["reply", "text", "message", "output"])
def test_a_mapping_names_its_reply_in_any_way(key: str) -> None:
    """The reply of a mapping may have any of its usual names."""
    assert read_result({key: "Hello."}).reply == "Hello."


def test_a_mapping_may_say_all_of_a_run() -> None:
    """A mapping gives calls, steps, usage and end; a call needs its name alone."""
    run = read_result(
        {
            "text": "x",
            "iterations": 2,
            "finish_reason": "length",
            "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "cost_usd": 0.1},
            "tool_calls": [{"name": "a", "args": {"n": 1}}, ToolCall(id="c", name="b", outcome="error")],
        }
    )
    assert (run.steps, run.finish_reason, run.missing) == (2, "length", ())
    assert [(call.name, call.args, call.outcome) for call in run.tool_calls] == [
        ("a", {"n": 1}, "ok"),
        ("b", {}, "error"),
    ]


def test_what_a_mapping_does_not_say_is_missing() -> None:
    """Steps, usage and cost that a mapping leaves out were not reported, which is not zero."""
    assert read_result({"text": "x"}).missing == ("usage", "steps", "cost")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "an agent must return text, a RunResult, a mapping or an object with `message`, got None"),
        (3, "got 3"),
        ([], r"got \[\]"),
        (b"x", "got b'x'"),
        ({"replly": "x"}, "a mapping with unknown keys: replly"),
        ({"text": 3}, "a mapping whose reply is wrong"),
        ({"text": "x", "tool_calls": [{"args": {}}]}, r"a mapping whose tool_calls.0.name is wrong: Field required"),
        ({"text": "x", "tool_calls": ["lookup"]}, "tool_calls"),
        ({"text": "x", "tool_calls": None}, "tool_calls"),
        ({1: "x"}, "unknown keys"),
        ({1: "x", "y": 2}, "unknown keys"),
    ],
)
def test_nonsense_is_a_usage_error(given: Any, message: str) -> None:
    """Whatever else an agent returns is a mistake in how it is given, which says what would do."""
    with pytest.raises(UsageError, match=message):
        read_result(given)


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("complete", "stop"),
        ("no_tools", "stop"),
        ("terminal_tool", "stop"),
        ("confidence_met", "stop"),
        ("max_iterations", "max-steps"),
        ("token_budget", "budget-exceeded"),
        ("interrupted", "awaiting-approval"),
        ("cancelled", "aborted"),
        ("error", "error"),
        ("tool_loop", "tool_loop"),
    ],
)
def test_why_an_agent_stopped_is_told_in_the_words_of_the_protocol(reason: str, end: str) -> None:
    """The stop reason of an object is a finish reason; one that is not known is no normal end."""
    assert read_result(SimpleNamespace(message="x", stop_reason=reason)).finish_reason == end


def test_an_object_says_what_it_has() -> None:
    """Of an object the message, iterations, tool executions and metrics are read; a failed tool has its error."""
    given = SimpleNamespace(
        message="Done.",
        iterations=2,
        tool_executions=[
            SimpleNamespace(
                tool_name="a", tool_call_id="1", arguments={"n": 1}, result="r", error=None, duration_ms=5.0
            ),
            SimpleNamespace(tool_name="b", tool_call_id="2", arguments=None, result=None, error="no", duration_ms=1.0),
        ],
        metrics=SimpleNamespace(total_tokens=30, prompt_tokens=10, completion_tokens=20, cost_usd=None),
    )
    run = read_result(given)
    assert (run.reply, run.steps, run.finish_reason, run.missing) == ("Done.", 2, "stop", ("cost",))
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.total_tokens) == (10, 20, 30)
    first, second = run.tool_calls
    assert (first.name, first.args, first.outcome, first.result, first.duration_ms) == ("a", {"n": 1}, "ok", "r", 5.0)
    assert (second.outcome, second.error and second.error.message) == ("error", "no")


def test_an_object_may_say_its_message_alone() -> None:
    """An object with nothing but a message is a run that reported nothing else."""
    run = read_result(SimpleNamespace(message=None))
    assert (run.reply, run.finish_reason, run.missing) == ("", "stop", ("usage", "steps", "cost"))


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"inputTokens": 1, "outputTokens": 2, "totalTokens": 3, "costUsd": 0.1, "modelCalls": 2}, (1, 2, 3, 0.1, 2)),
        ({"inputTokens": 1, "outputTokens": 2}, (1, 2, 3, None, None)),
        ({"promptTokens": 1, "completionTokens": 2, "totalTokens": 4}, (1, 2, 4, None, None)),
        ({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "cost_usd": 0.1}, (1, 2, 3, 0.1, None)),
    ],
    ids=["wire", "no total", "older", "ours"],
)
def test_usage_may_be_in_the_words_of_the_wire(usage: dict[str, Any], tokens: tuple[Any, ...]) -> None:
    """The usage of a mapping is read in the words of the wire as well as in those of `Usage`."""
    used = read_result({"text": "x", "usage": usage}).usage
    assert used is not None
    read = (used.input_tokens, used.output_tokens, used.total_tokens, used.cost_usd, used.model_calls)
    assert read == tokens


@pytest.mark.parametrize("given", [{"text": "x", "reply": "y"}, {"steps": 1, "iterations": 2}], ids=str)
def test_two_names_for_one_thing_are_refused(given: dict[str, Any]) -> None:
    """A mapping that says one thing under two names is refused, naming them: which one counts nobody knows."""
    with pytest.raises(UsageError, match=f"names one thing twice: {', '.join(given)}"):
        read_result(given)


def test_an_unknown_key_is_told_with_the_known_ones() -> None:
    """A key that a mapping may not have is named beside those that it may."""
    with pytest.raises(UsageError) as caught:
        read_result({"text": "x", "toolCalls": []})
    told, _, valid = str(caught.value).partition("; it may have ")
    assert told.endswith("unknown keys: toolCalls")
    assert {"reply", "text", "message", "output", "tool_calls", "steps", "usage"} <= set(valid.split(", "))
