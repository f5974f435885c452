"""What is odd in the order of events is said, and nothing that is as it should be."""

import json
import time
from typing import Any

import pytest

from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.chat.ordering import StreamOrderChecker
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.transport.limits import SizeLimits
from tests.contract.facts import RECORDINGS, load_body


def frames(*seqs: object, **fields: Any) -> list[dict[str, Any]]:
    """Return an event for each number, None for one without."""
    return [{"type": "x", "runId": "r", "v": 1, **({} if seq is None else {"seq": seq}), **fields} for seq in seqs]


def warn(*events: dict[str, Any], scrub: Any = str) -> tuple[str, ...]:
    """Return the warnings that these events make."""
    check = StreamOrderChecker(scrub)
    for event in events:
        check.add(parse_event(event))
    return check.warnings


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_real_stream_gives_no_warning(name: str) -> None:
    """What the reference server sends is in order."""
    rebuild, decoder = RunBuilder(CHAT.open_order()), CHAT.open_reader(str, SizeLimits().frame_bytes)
    for event in decoder.feed(load_body(name)):
        rebuild.add(event, 0.0)
    assert rebuild.result(total_ms=0).warnings == ()


@pytest.mark.parametrize(
    "seqs", [(), (0,), (0, 1, 2), (None, None), (0, None, 1), ("0", "1"), (True, False), (0.5,)], ids=repr
)
def test_what_is_numbered_well_or_not_at_all_gives_no_warning(seqs: tuple[object, ...]) -> None:
    """Events that count up from 0, or whose numbers are no numbers, are not odd."""
    assert warn(*frames(*seqs)) == ()


@pytest.mark.parametrize(
    ("seqs", "warning"),
    [
        ((3, 4), "seq 3 came where 0 was due: 3 event(s) are missing"),
        ((0, 1, 5, 6), "seq 5 came where 2 was due: 3 event(s) are missing"),
        ((0, 2, 4, 6), "seq 2 came where 1 was due: 1 event(s) are missing (and 2 more)"),
        ((0, 1, 0, 2), "seq 0 came where 2 was due, which it should have come before"),
    ],
    ids=repr,
)
def test_a_gap_or_a_repeat_is_said_once_with_its_number(seqs: tuple[int, ...], warning: str) -> None:
    """Each kind is one warning: the first place, and how many more there are."""
    assert warn(*frames(*seqs)) == (warning,)


def test_two_runs_in_one_stream_are_said() -> None:
    """Events of another run, as a proxy that crosses answers sends them, are named with both ids."""
    first, second = frames(0, runId="r1"), frames(0, 7, runId="r2")
    (warning,) = warn(*first, *second)
    assert "'r1'" in warning
    assert "'r2'" in warning
    assert "proxy" in warning


def test_an_event_that_is_sent_again_counts_once() -> None:
    """The very same event twice, as a proxy may send it, makes no second call."""
    run = rebuild(
        [
            RUN[0],
            RUN[1],
            {**RUN[2], "seq": 2},
            {**RUN[2], "seq": 2},
            *({**e, "seq": n} for n, e in enumerate(RUN[3:], 3)),
        ]
    )
    result = run.result(total_ms=0)
    assert len(result.tool_calls) == 1
    assert result.warnings == ("the event with the seq 2 was sent again, and left out",)


def test_events_that_number_badly_are_read_all_the_same() -> None:
    """A server that gives every event the number 0 is warned of, and its run is read as it came."""
    result = rebuild([{**event, "seq": 0} for event in RUN]).result(total_ms=0)
    assert (result.reply, len(result.tool_calls)) == ("Hello.", 1)
    assert result.warnings == ("seq 0 came where 1 was due, which it should have come before (and 4 more)",)


def test_a_run_that_lost_events_says_so() -> None:
    """What a gap may have swallowed is missing: the events, and so the number of steps."""
    run = rebuild([*RUN[:2], *({**event, "seq": number} for number, event in enumerate(RUN[3:], 3))])
    assert {"events", "steps"} <= set(run.result(total_ms=0).missing)
    assert "events" not in rebuild(RUN).result(total_ms=0).missing


def test_a_sub_agent_may_be_the_first_to_speak() -> None:
    """A stream whose first event is of a sub-agent with an id of its own is still that of the lead agent's run."""
    first = {"type": "text.delta", "runId": "sub", "seq": 0, "subagent": {"name": "x", "toolCallId": "c"}}
    run = rebuild([first, *({**event, "seq": number} for number, event in enumerate(RUN, 1))]).result(total_ms=0)
    assert (run.reply, run.warnings) == ("Hello.", ())


@pytest.mark.parametrize("seq", [10**4299, 2**53, -1], ids=["huge", "beyond JSON", "negative"])
def test_a_number_beyond_all_counting_is_none(seq: int) -> None:
    """A `seq` that no server counts to is as good as absent, and makes no message long."""
    assert warn(*frames(0, 1, seq, 2)) == ()


def test_many_calls_of_one_id_take_no_long_time() -> None:
    """40,000 calls under one id, each resumed, are paired one by one: no list is searched for each."""
    built, started = RunBuilder(CHAT.open_order()), time.process_time()
    for kind in ("tool.start", "tool.resume", "tool.done"):
        for _ in range(40_000):
            built.add(parse_event({"type": kind, "toolCallId": "c", "toolName": "look"}), 0.0)
    assert time.process_time() - started < 5
    calls = built.result(total_ms=0).tool_calls
    assert {call.outcome for call in calls} == {"ok"}


def test_a_sub_agent_may_run_under_an_id_of_its_own() -> None:
    """An event that names its sub-agent belongs to the run that the stream began with."""
    assert warn(*frames(0), *frames(1, runId="sub", subagent={"name": "x", "toolCallId": "c"})) == ()


@pytest.mark.parametrize("version", [2, 0, "1", 10**400])
def test_another_version_is_said(version: object) -> None:
    """A version other than 1 is named, however large it is."""
    (warning,) = warn(*frames(0, v=version))
    assert warning.startswith("events are of version ")
    assert len(warning) < 200


def test_another_stream_of_the_turn_has_a_numbering_and_a_run_of_its_own() -> None:
    """After a pause, numbers begin anew and the run id is another."""
    check = StreamOrderChecker()
    check.add(parse_event(frames(0)[0]))
    check.begin_stream()
    check.add(parse_event(frames(0, runId="next")[0]))
    assert check.warnings == ()


def test_what_is_quoted_is_scrubbed_before_it_is_cut() -> None:
    """A secret in a run id is gone from the warning, also where the cut would have halved it."""
    secret = "s3cret" * 4
    (warning,) = warn(
        *frames(0), *frames(1, runId="x" * 50 + secret), scrub=lambda text: text.replace(secret, "[gone]")
    )
    assert "s3cret" not in warning
    assert "[gone]" in warning


def test_far_side_text_with_braces_is_only_quoted() -> None:
    """What looks like a place to fill stays as it came."""
    (warning,) = warn(*frames(0), *frames(1, runId="{0.__class__}{}"))
    assert "{0.__class__}{}" in warning


RUN: list[dict[str, Any]] = [
    {"type": "run.start"},
    {"type": "step.start", "step": 1},
    {"type": "tool.start", "toolCallId": "c1", "toolName": "look", "args": {}},
    {"type": "tool.done", "toolCallId": "c1", "toolName": "look", "result": 1},
    {"type": "step.done", "step": 1},
    {"type": "run.done", "finishReason": "stop", "text": "Hello."},
]


def rebuild(events: list[dict[str, Any]]) -> RunBuilder:
    """Return the rebuilt run of events, numbered as they come."""
    built = RunBuilder(CHAT.open_order())
    for seq, event in enumerate(events):
        built.add(parse_event(json.loads(json.dumps({"runId": "r", "v": 1, "seq": seq, **event}))), 0.0)
    return built


def test_a_whole_run_gives_no_warning() -> None:
    """A run in order is not odd."""
    assert rebuild(RUN).result(total_ms=0).warnings == ()


@pytest.mark.parametrize(
    ("events", "warning"),
    [
        ([*RUN[:4], RUN[5]], "1 step(s) started and never ended"),
        (
            [RUN[0], RUN[3], RUN[5]],
            "'tool.done' came for a call of 'look' that had not started: 'c1'",
        ),
        ([*RUN, {"type": "text.delta", "text": "late"}], "'text.delta' came after run.done and is not part of the run"),
        (
            [*RUN, {"type": "run.done", "finishReason": "error", "text": "Other."}],
            "a second run.done came, with the finish reason 'error'; only the first counts",
        ),
    ],
)
def test_a_broken_order_is_said_and_does_not_change_the_run(events: list[dict[str, Any]], warning: str) -> None:
    """Each oddity is a warning; the run is what its own events make of it."""
    run = rebuild(events).result(total_ms=0)
    assert run.warnings == (warning,)
    assert (run.reply, run.finish_reason) == ("Hello.", "stop")


def test_another_run_s_events_are_not_taken_for_those_of_this_one() -> None:
    """What a crossed stream says of another run is left out: its calls, its text and its end."""
    foreign = [{**event, "runId": "other", "text": "Not yours."} for event in RUN]
    run = rebuild([RUN[0], *foreign, *({**event, "seq": seq} for seq, event in enumerate(RUN[1:], 1))]).result(
        total_ms=0
    )
    assert (run.reply, run.finish_reason, len(run.tool_calls), run.steps) == ("Hello.", "stop", 1, 1)
    assert len(run.warnings) == 1


def test_a_sub_agents_open_step_is_said_too() -> None:
    """A step that never ends is odd whoever took it, and one that another ended too often hides none."""
    sub = {"subagent": {"name": "x", "toolCallId": "c"}}
    steps = [
        {"type": "step.start", "step": 1, **sub},
        {"type": "step.done", "step": 1},
        {"type": "step.start", "step": 1},
    ]
    run = rebuild([RUN[0], *steps, {"type": "step.done", "step": 1}, RUN[-1]]).result(total_ms=0)
    assert run.warnings == ("1 step(s) started and never ended",)


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_a_run_that_broke_off_may_leave_a_step_open(reason: str) -> None:
    """The step in which a run failed is never done, and that is not odd."""
    assert rebuild([*RUN[:2], {"type": "run.done", "finishReason": reason}]).result(total_ms=0).warnings == ()
