"""Faults of a run's events, tested on the wire: each frame is valid, but their order is not."""

from typing import Any

import pytest

from tests.fake_server.wire_client import (
    TYPES,
    Event,
    ask,
    events_in,
    one,
    post,
    raw_turn,
    read_until,
    serve,
    serve_faulty,
)

CLOSING = "event: done\ndata: {}\n\n"


def numbered(events: list[Event]) -> list[str]:
    """Return the number and type of each event."""
    return [f"{event['seq']} {event['type']}" for event in events]


def in_order(types: list[str]) -> list[str]:
    """Return the types, numbered from 0."""
    return [f"{seq} {each}" for seq, each in enumerate(types)]


WHOLE = in_order(TYPES)


@pytest.mark.parametrize(
    ("fault", "sent"),
    [
        ({"name": "seq-gap"}, WHOLE[1:]),
        ({"name": "seq-gap", "after": 2}, WHOLE[:2] + WHOLE[3:]),
        ({"name": "seq-gap", "after": 6}, WHOLE[:6]),
        ({"name": "seq-gap", "after": 99}, WHOLE),
        ({"name": "seq-repeat"}, [WHOLE[0], *WHOLE]),
        ({"name": "seq-repeat", "after": 2}, [*WHOLE[:3], *WHOLE[2:]]),
        ({"name": "seq-repeat", "after": 99}, WHOLE),
        ({"name": "unknown-call"}, in_order(["tool.done", *TYPES])),
        ({"name": "unknown-call", "after": 3}, in_order([*TYPES[:3], "tool.done", *TYPES[3:]])),
        ({"name": "no-step-done"}, in_order([*TYPES[:5], "run.done"])),
        ({"name": "no-step-done", "after": 6}, WHOLE),
        ({"name": "second-run-done"}, in_order([*TYPES, "run.done"])),
        ({"name": "endless", "after": 99}, WHOLE),
        ({"name": "event-after-done"}, in_order([*TYPES, "text.delta"])),
    ],
    ids=str,
)
def test_events_come_as_the_fault_has_them(fault: dict[str, Any], sent: list[str]) -> None:
    """Only the one fault changes the events and their numbers, and the stream ends as usual."""
    with serve_faulty(fault) as server:
        body = post(server).text
    assert numbered(events_in(body)) == sent
    assert body.endswith(CLOSING)
    assert len({(event["runId"], event["v"]) for event in events_in(body)}) == 1


def test_a_repeated_event_is_the_same_to_the_last_byte() -> None:
    """A repeated event is the same frame twice."""
    with serve_faulty({"name": "seq-repeat", "after": 2}) as server:
        frames = post(server).text.split("\n\n")
    assert frames[2] == frames[3]


def test_only_one_step_done_is_left_out() -> None:
    """`no-step-done` leaves out one step.done and no later one."""
    fault = {"name": "no-step-done"}
    with serve([{"steps": [{"tools": [{"name": "a"}]}, {"text": "b"}], "fault": fault}]) as server:
        events = ask(server)
    assert one(events, "step.done")["step"] == 2
    assert [event["seq"] for event in events] == list(range(len(events)))


def test_a_call_that_nobody_started_is_done() -> None:
    """The unknown call has a name and an id that no other event has."""
    with serve_faulty({"name": "unknown-call", "after": 2}) as server:
        done = one(ask(server), "tool.done")
    assert (done["toolCallId"], done["toolName"], done["result"], done["durationMs"]) == (
        "call_unknown",
        "unknown_tool",
        None,
        0,
    )


def test_the_second_end_contradicts_the_first() -> None:
    """The first run.done says `stop`, the second one `aborted`."""
    with serve_faulty("second-run-done") as server:
        first, second = [event for event in ask(server) if event["type"] == "run.done"]
    assert (first["finishReason"], first["text"]) == ("stop", "hello there")
    assert (second["finishReason"], second["text"]) == ("aborted", "")


def test_a_newer_server_says_so_in_every_event() -> None:
    """`newer-version` changes the version of every event and nothing else."""
    with serve_faulty("newer-version") as server:
        events = ask(server)
    assert numbered(events) == WHOLE
    assert {event["v"] for event in events} == {2}


def test_two_runs_cross_until_the_other_is_done() -> None:
    """Each later event is followed by one of another whole run, which has its own numbers and text."""
    with serve_faulty({"name": "crossed", "after": 1}) as server:
        events = ask(server)
    own, other = ([each for each in events if (each["runId"] == events[0]["runId"]) is mine] for mine in (True, False))
    assert numbered(own) == WHOLE
    assert numbered(other) == in_order(["run.start", "step.start", "text.delta", "step.done", "run.done"])
    assert [event["runId"] == events[0]["runId"] for event in events] == [True, *[True, False] * 5, True]
    assert one(own, "run.done")["text"] != one(other, "run.done")["text"]


def test_endless_text_has_numbers_and_no_end() -> None:
    """`endless` replaces the rest with numbered deltas, and the server still serves others."""
    with (
        serve_faulty({"name": "endless", "after": 2, "every": 0, "times": 1}) as server,
        raw_turn(server) as connection,
    ):
        got = read_until(connection, b'"seq":50,')
        assert one(ask(server, session="another"), "run.done")["text"] == "hello there"
    lines = [line for line in got.decode().splitlines() if line.startswith("data: ")]
    assert numbered(events_in("\n".join(lines[:50]))) == in_order([*TYPES[:2], *["text.delta"] * 48])


def test_a_turn_whose_events_are_out_of_order_went_well_on_the_server() -> None:
    """A fault of order changes only what the client receives: the next turn is the second."""
    with serve([{"when": {"turn": 1}, "text": "one", "fault": "seq-gap"}, {"text": "turn {{turn}}"}]) as server:
        ask(server)
        assert one(ask(server), "run.done")["text"] == "turn 2"
