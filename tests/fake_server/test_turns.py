"""A reply of the script becomes the events of a run."""

from typing import Any

import pytest

from fake_server import FakeServer
from tests.fake_server.wire_client import ask, brief, one, run_reply, serve, unstamped


def get_reply(server: FakeServer, message: str, session: str = "s") -> str:
    """Return the text of a run."""
    return str(one(ask(server, message, session), "run.done")["text"])


def deltas(events: list[dict[str, Any]]) -> list[str]:
    """Return the texts of the text deltas."""
    return [event["text"] for event in events if event["type"] == "text.delta"]


def test_the_first_reply_that_matches_answers() -> None:
    """The first reply whose `when` holds answers, by text, by pattern or by turn."""
    replies: list[dict[str, Any]] = [
        {"when": {"input": "ORDER"}, "text": "by input"},
        {"when": {"matches": r"^\d+$"}, "text": "by pattern"},
        {"when": {"turn": 3}, "text": "by turn"},
        {"text": "anything"},
    ]
    with serve(replies) as server:
        assert [get_reply(server, message) for message in ("my order", "42", "hm", "hm")] == [
            "by input",
            "by pattern",
            "by turn",
            "anything",
        ]


def test_all_conditions_of_a_reply_must_hold() -> None:
    """A reply answers only if all conditions of its `when` hold."""
    with serve([{"when": {"input": "order", "turn": 2}, "text": "both"}, {"text": "else"}]) as server:
        assert [get_reply(server, message) for message in ("order", "order", "order")] == ["else", "both", "else"]


def test_turns_are_counted_for_each_session() -> None:
    """Each session counts its own turns."""
    with serve([{"when": {"turn": 1}, "text": "first"}, {"text": "later"}]) as server:
        assert [get_reply(server, "hi", session) for session in ("a", "a", "b")] == ["first", "later", "first"]


def test_placeholders_stand_for_the_words_of_the_turn() -> None:
    """Placeholders are replaced once by the values of the request, and unknown ones stay."""
    script = {"token": "secret", "replies": [{"text": "{{input}}|{{session}}|{{turn}}|{{ authorization }}|{{other}}"}]}
    with serve(script) as server:
        assert get_reply(server, "hi {{turn}}") == "hi {{turn}}|s|1|Bearer secret|{{other}}"


def test_placeholders_reach_args_results_objects_and_events() -> None:
    """Placeholders are replaced in arguments, results, objects and raw events."""
    tool = {"name": "echo", "args": {"a": ["{{input}}"]}, "result": {"r": "{{input}}"}}
    events = run_reply(
        {"steps": [{"tools": [tool]}], "object": {"o": "{{input}}"}, "events": [{"type": "x", "e": "{{input}}"}]}
    )
    assert one(events, "tool.start")["args"] == {"a": ["hi"]}
    assert one(events, "tool.done")["result"] == {"r": "hi"}
    assert one(events, "run.done")["object"] == {"o": "hi"}
    assert one(events, "x")["e"] == "hi"


@pytest.mark.parametrize(
    ("delta", "pieces"),
    [("word", ["  ", "a  ", "b\n", "c"]), ("char", list("  a  b\nc")), ("whole", ["  a  b\nc"])],
)
def test_text_is_cut_as_the_reply_says(delta: str, pieces: list[str]) -> None:
    """`delta` cuts the text into words, characters or one piece."""
    events = run_reply({"text": "  a  b\nc", "delta": delta})
    assert deltas(events) == pieces
    assert one(events, "text.done")["text"] == "  a  b\nc"


def test_a_text_beside_steps_is_one_more_step() -> None:
    """A `text` beside `steps` is one more step at the end."""
    events = run_reply({"steps": [{"tools": [{"name": "look"}]}], "text": "seen"})
    assert [event["step"] for event in events if event["type"] == "step.start"] == [1, 2]
    assert one(events, "run.done")["text"] == "seen"


def test_a_reply_without_anything_is_an_empty_step() -> None:
    """An empty reply is a run of one empty step."""
    assert brief(run_reply({})) == ["run.start", "step.start 1", "step.done 1 stop", "run.done stop"]


def test_parallel_tools_start_in_list_order_and_end_in_completion_order() -> None:
    """Parallel calls start in the order of the list and end by their duration."""
    tools = [
        {"name": "slow", "duration": "30ms"},
        {"name": "quick", "duration": "10ms"},
        {"name": "quick_too", "duration": "10ms"},
        {"name": "boom", "duration": "20ms", "error": {"name": "TypeError", "message": "bad"}},
    ]
    events = run_reply({"steps": [{"tools": tools}]})
    calls = [line for line in brief(events) if line.startswith("tool.")]
    assert calls == [
        "tool.start call_1",
        "tool.start call_2",
        "tool.start call_3",
        "tool.start call_4",
        "tool.done call_2",
        "tool.done call_3",
        "tool.error call_4",
        "tool.done call_1",
    ]
    assert [event["durationMs"] for event in events if "durationMs" in event] == [10, 10, 20, 30]


def test_call_ids_go_on_from_step_to_step() -> None:
    """Call ids are numbered over all steps."""
    step = {"tools": [{"name": "noop"}]}
    events = run_reply({"steps": [step, step]})
    assert [event["toolCallId"] for event in events if event["type"] == "tool.start"] == ["call_1", "call_2"]


def test_an_error_ends_the_run_without_text_or_usage() -> None:
    """An error ends the run, and its run.done has no text and no usage."""
    events = run_reply(
        {"steps": [{"text": "Let me see."}], "error": {"name": "Boom", "message": "hidden", "code": "E1"}}
    )
    assert one(events, "error")["error"] == {"name": "Boom", "message": "hidden", "code": "E1"}
    [done] = [event for event in unstamped(events) if event["type"] == "run.done"]
    assert done == {"type": "run.done", "finishReason": "error", "text": "", "seq": len(events) - 1}
    assert brief(events)[-4:] == ["step.start 2", "error", "step.done 2 error", "run.done error"]


def test_an_error_can_come_in_the_middle_of_a_text() -> None:
    """The text of a failed step is streamed before its error, without a text.done."""
    events = run_reply({"text": "I was about", "error": {"name": "Boom"}})
    assert deltas(events) == ["I ", "was ", "about"]
    assert "text.done" not in brief(events)


def test_steps_after_a_failed_one_are_not_taken() -> None:
    """No step follows a failed one."""
    events = run_reply({"steps": [{"error": {"name": "Boom"}}, {"text": "never"}]})
    assert [event["step"] for event in events if event["type"] == "step.start"] == [1]


def test_the_finish_reason_of_run_and_step_can_be_named() -> None:
    """The finish reasons of a step and of the run can be given."""
    events = run_reply({"steps": [{"text": "cut of", "finish_reason": "length"}], "finish_reason": "length"})
    assert brief(events)[-2:] == ["step.done 1 length", "run.done length"]


def test_an_object_is_sent_even_when_it_is_null() -> None:
    """An `object: null` is sent, and no object is sent without the key."""
    assert one(run_reply({"text": "x", "object": None}), "run.done")["object"] is None
    assert "object" not in one(run_reply({"text": "x"}), "run.done")


def test_extra_events_follow_the_start_of_the_run_in_sequence() -> None:
    """Raw events are sent after run.start, numbered like the others."""
    events = run_reply(
        {"text": "x", "events": [{"type": "provider.retry", "attempt": 1}, {"type": "unheard-of", "x-y": 2}]}
    )
    assert [event["type"] for event in events[:4]] == ["run.start", "provider.retry", "unheard-of", "step.start"]
    assert (events[1]["attempt"], events[2]["x-y"]) == (1, 2)
    assert [event["seq"] for event in events] == list(range(len(events)))


def test_every_event_of_a_run_has_its_id() -> None:
    """All events of a run have one id, and the next run has another."""
    with serve([{"text": "x"}]) as server:
        runs = [{event["runId"] for event in ask(server)} for _ in range(2)]
    assert [len(ids) for ids in runs] == [1, 1]
    assert runs[0] != runs[1]


def test_an_emoji_and_a_line_separator_go_out_as_they_are() -> None:
    """Characters beyond ASCII are sent unescaped."""
    with serve([{"text": "👩‍👩‍👧\u2028"}]) as server:
        assert get_reply(server, "hi") == "👩‍👩‍👧\u2028"
