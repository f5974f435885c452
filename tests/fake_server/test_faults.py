"""When a fault strikes: how often, in which replies, and in which requests."""

import re

from tests.fake_server.wire_client import (
    ask,
    decide,
    events_in,
    one,
    post,
    raw_turn,
    read_to_end,
    send,
    serve,
    serve_faulty,
    transcript,
)

PAUSING = {"steps": [{"tools": [{"name": "refund", "approval": True}]}, {"text": "refunded"}]}


def test_times_lets_later_requests_through() -> None:
    """A fault with `times` strikes that many requests and no later one."""
    with serve_faulty({"name": "unavailable", "times": 2}) as server:
        assert [post(server).status_code for _ in range(3)] == [503, 503, 200]


def test_times_counts_anew_for_every_server() -> None:
    """Each server counts `times` from the start."""
    server = serve_faulty({"name": "unavailable", "times": 1})
    with server:
        post(server)
    with serve_faulty({"name": "unavailable", "times": 1}) as another:
        assert post(another).status_code == 503


def test_several_faults_strike_one_after_another() -> None:
    """Of several faults the first that is not used up strikes."""
    faults = [{"name": "unavailable", "times": 1}, {"name": "rate-limited", "times": 1}]
    with serve_faulty(faults) as server:
        assert [post(server).status_code for _ in range(3)] == [503, 429, 200]


def test_a_fault_of_a_reply_leaves_other_replies_alone() -> None:
    """A fault of one reply does not strike another."""
    with serve([{"when": {"input": "bad"}, "fault": "unavailable"}, {"text": "fine"}]) as server:
        assert [post(server, message).status_code for message in ("bad", "good")] == [503, 200]


def test_a_fault_of_the_script_strikes_every_post() -> None:
    """A fault of the whole script strikes every turn, but neither /health nor a transcript."""
    with serve({"fault": "unavailable", "replies": [{"text": "hi"}]}) as server:
        assert [post(server, message).status_code for message in ("one", "two")] == [503, 503]
        assert send(server, "GET", "/health").status_code == 200
        assert send(server, "GET", "/chat/s").status_code == 200


def test_a_turn_answered_by_a_status_fault_never_ran() -> None:
    """A turn that a fault answered is not counted and not in the transcript."""
    with serve_faulty({"name": "unavailable", "times": 1}, when={"turn": 1}) as server:
        assert [post(server).status_code for _ in range(2)] == [503, 200]
        assert len(transcript(server)["messages"]) == 2


def test_a_turn_whose_stream_was_cut_ran_to_its_end() -> None:
    """A turn whose stream was cut is whole in the transcript."""
    with serve([{"when": {"turn": 1}, "text": "lost", "fault": "cut"}, {"text": "second"}]) as server:
        with raw_turn(server, "one") as connection:
            read_to_end(connection)
        ask(server, "two")
        assert [message["content"] for message in transcript(server)["messages"]] == ["one", "lost", "two", "second"]


def test_a_fault_can_wait_for_the_decision() -> None:
    """A fault with `request: approval` strikes the decision and not the turn."""
    fault = {"name": "unavailable", "request": "approval", "times": 1}
    with serve([{**PAUSING, "fault": fault}]) as server:
        asked = ask(server)
        path = f"/chat/s/approvals/{one(asked, 'approval.requested')['approvalId']}"
        assert send(server, "POST", path, json={"approved": True}).status_code == 503
        assert one(decide(server, asked, {"approved": True}), "run.done")["text"] == "refunded"


def test_a_fault_can_spare_the_decision() -> None:
    """A fault with `request: chat` strikes the turn and not the decision."""
    fault = {"name": "cut", "after": 99, "request": "chat"}
    with serve([{**PAUSING, "fault": fault}]) as server:
        with raw_turn(server) as connection:
            asked = events_in(re.sub(rb"\r\n[0-9a-f]*\r\n", b"\n", read_to_end(connection)).decode())
        assert one(decide(server, asked, {"approved": True}), "run.done")["text"] == "refunded"
