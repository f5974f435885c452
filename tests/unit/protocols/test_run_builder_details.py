from typing import Any

import pytest

from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.results import Usage
from tests.builders import deepest, ended, far_below, fold, frame, started, usage


def usage_of(**fields: Any) -> Usage | None:
    return fold(frame("run.done", finishReason="stop", usage=fields)).usage


def test_openai_names_are_read_as_aliases() -> None:
    """Older servers name their tokens as OpenAI does."""
    assert usage_of(promptTokens=3, completionTokens=2) == Usage(input_tokens=3, output_tokens=2, total_tokens=5)


def test_an_unknown_price_is_not_zero() -> None:
    """A run without `costUsd` has no cost, and a run that cost nothing has the cost 0."""
    assert usage_of(totalTokens=1) == usage(0, None, total_tokens=1)
    assert usage_of(totalTokens=1, costUsd=0) == usage(0, 0.0, total_tokens=1)


@pytest.mark.parametrize(
    "fields",
    [{}, {"inputTokens": 3}, {"totalTokens": "12"}, {"totalTokens": True}, {"totalTokens": float("nan")}],
    ids=repr,
)
def test_a_usage_without_a_count_is_no_usage(fields: dict[str, Any]) -> None:
    """A usage that holds no usable count of tokens is reported as missing, not as zero."""
    run = fold(frame("run.done", finishReason="stop", usage=fields))
    assert run.usage is None
    assert "usage" in run.missing


@pytest.mark.parametrize("field", ["totalTokens", "costUsd", "modelCalls"])
def test_a_count_beyond_every_float_never_raises(field: str) -> None:
    """An integer that no float can hold does not break the rebuilding of a run."""
    run = fold(frame("run.done", finishReason="stop", usage={"inputTokens": 1, "outputTokens": 1, field: 10**400}))
    assert run.finish_reason == "stop"


@pytest.mark.parametrize("kind", ["error", "tool.error"])
def test_an_error_of_the_deepest_json_never_raises(kind: str) -> None:
    """An error whose name and message are nested as deep as JSON can be parsed is still an error."""
    deep = deepest()
    event = frame(kind, toolCallId="c", toolName="t", error={"name": deep, "message": deep, "code": deep})
    run = far_below(lambda: fold(event))
    assert run.error or run.tool_calls[0].error


def test_an_end_without_a_start_is_a_call() -> None:
    """A call whose start was lost is still a call that took effect."""
    run = fold(ended("c", "refund", "done", durationMs=5))
    assert [(one.name, one.outcome, one.duration_ms) for one in run.tool_calls] == [("refund", "ok", 5)]


def test_an_id_that_is_started_anew_is_another_call() -> None:
    """A server that counts its call ids anew in every step makes calls of their own."""
    run = fold(started("c", "a"), ended("c", "a", 1), started("c", "b"), ended("c", "b", 2))
    assert [(one.name, one.result) for one in run.tool_calls] == [("a", 1), ("b", 2)]


def test_a_tool_error_is_the_outcome_of_its_call_alone() -> None:
    """A tool that raises gives its call an error, and the run goes on."""
    error = {"name": "TypeError", "message": "x"}
    run = fold(
        started("c", "boom"), frame("tool.error", toolCallId="c", error=error), frame("run.done", finishReason="stop")
    )
    assert (run.tool_calls[0].outcome, run.error, run.finish_reason) == ("error", None, "stop")


def test_an_error_without_a_name_is_an_error() -> None:
    """A failed call whose error says nothing has failed all the same."""
    error = fold(started("c", "boom"), frame("tool.error", toolCallId="c")).tool_calls[0].error
    assert error is not None
    assert (error.name, error.message, error.code) == ("Error", "", None)


def test_an_error_event_of_a_subagent_is_not_the_runs() -> None:
    """A sub-agent that fails does not fail the run, and its end is not the run's."""
    of = {"name": "researcher", "toolCallId": "c"}
    run = fold(frame("error", error={"name": "X"}, subagent=of), frame("run.done", finishReason="error", subagent=of))
    assert (run.error, run.finish_reason) == (None, None)


def test_moments_are_told_from_the_request() -> None:
    """The first event, the first text and the longest silence are measured, the silence before the first event too."""
    run = RunBuilder(CHAT.open_order())
    for kind, at_ms in [("run.start", 40.0), ("text.delta", 50.0), ("text.delta", 130.0)]:
        run.add(parse_event(frame(kind, text="a")), at_ms)
    timing = run.result(total_ms=150.0, headers_ms=30.0).timing
    assert (timing.headers_ms, timing.first_event_ms, timing.first_text_ms) == (30.0, 40.0, 50.0)
    assert (timing.total_ms, timing.longest_gap_ms) == (150.0, 80.0)


def test_the_silence_after_the_last_event_counts() -> None:
    """A stream that goes silent before it breaks shows that silence as its longest."""
    run = RunBuilder(CHAT.open_order())
    run.add(parse_event(frame("run.start")), 5.0)
    assert run.result(total_ms=905.0).timing.longest_gap_ms == 900.0


def test_an_empty_delta_is_not_the_first_text() -> None:
    """Only text that can be read stops the clock of the first text."""
    assert fold(frame("text.delta", text=""), frame("text.delta", text="a")).timing.first_text_ms == 20.0


def test_a_reply_that_comes_with_the_end_has_its_moment() -> None:
    """A server that streams nothing gives its first text with its end."""
    assert fold(frame("run.start"), frame("run.done", finishReason="stop", text="a")).timing.first_text_ms == 20.0


def test_a_step_that_never_ended_makes_steps_missing() -> None:
    """A count of steps is told only where every step that began also ended."""
    run = fold(frame("step.start"), frame("step.done"), frame("step.start"), frame("run.done", finishReason="stop"))
    assert (run.steps, "steps" in run.missing) == (1, True)


def test_the_trace_id_is_that_of_the_request() -> None:
    """The trace id is handed through, so that an operator finds the run."""
    assert RunBuilder(CHAT.open_order()).result(total_ms=1.0, trace_id="abc").trace_id == "abc"


def test_nothing_at_all_is_a_run_that_never_ended() -> None:
    """A stream without events is a run without an end, and everything about it is missing."""
    run = RunBuilder(CHAT.open_order()).result(total_ms=3.0)
    assert (run.finish_reason, run.last_event, run.reply) == (None, None, "")
    assert run.missing == ("usage", "steps", "cost")
