"""What newer servers answer: several requests in one pause, edited arguments, sign-ins, expiry, an aborted turn."""

from typing import Any

import pytest

from tests.fake_server.wire_client import (
    Event,
    ask,
    brief,
    events_in,
    one,
    post,
    raw_turn,
    read_until,
    send,
    serve,
    transcript,
)

WIRE = {"name": "wire_money", "args": {"eur": 900}, "approval": True, "result": "sent"}
DROP = {"name": "delete_db", "approval": True, "result": "gone"}
STEPS: list[dict[str, Any]] = [{"tools": [{"name": "look"}, WIRE, DROP, {"name": "later"}]}, {"text": "Done."}]


def requests_in(events: list[Event]) -> list[Event]:
    """Return the requests for approval in a stream."""
    return [event for event in events if event["type"] == "approval.requested"]


def post_decision(server: Any, request: Event, body: Event) -> Any:
    """Return the answer to a decision on one request."""
    return send(server, "POST", f"/chat/s/approvals/{request['approvalId']}", json=body)


@pytest.mark.parametrize(("pauses", "again"), [("together", []), ("together-repeated", ["approval.requested call_3"])])
def test_a_step_pauses_on_several_calls(pauses: str, again: list[str]) -> None:
    """Each call has its request, and nothing runs until the last is decided; the open ones may be requested again."""
    with serve([{"steps": STEPS, "pauses": pauses}]) as server:
        asked = ask(server)
        wire, drop = requests_in(asked)
        ids = [wire["approvalId"], drop["approvalId"]]
        status = {"status": "awaiting-approval"}
        assert transcript(server)["pending"] == {**status, "approvalId": ids[0], "approvalIds": ids}
        partial = events_in(post_decision(server, wire, {"approved": True}).text)
        assert transcript(server)["pending"] == {**status, "approvalId": ids[1], "approvalIds": ids[1:]}
        whole = events_in(post_decision(server, drop, {"approved": False}).text)
    assert brief(asked)[4:] == [
        "tool.start call_2",
        "tool.start call_3",
        "approval.requested call_2",
        "approval.requested call_3",
        "step.done 1 awaiting-approval",
        "run.done awaiting-approval",
    ]
    assert brief(partial) == ["run.start", *again, "run.done awaiting-approval"]
    assert [event["approvalId"] for event in requests_in(partial)] == ids[1:] * len(again)
    assert brief(whole)[1:7] == [
        "tool.resume call_2",
        "tool.done call_2",
        "tool.resume call_3",
        "tool.error call_3",
        "tool.start call_4",
        "tool.done call_4",
    ]
    assert one(whole, "run.done")["text"] == "Done."


def test_a_decision_that_another_request_made_is_a_conflict() -> None:
    """A second decision on a request of an open pause is answered with 409 and its code, and changes nothing."""
    with serve([{"steps": STEPS, "pauses": "together"}]) as server:
        wire, drop = requests_in(ask(server))
        post_decision(server, wire, {"approved": False})
        refused = post_decision(server, wire, {"approved": True})
        whole = events_in(post_decision(server, drop, {"approved": True}).text)
    assert (refused.status_code, refused.json()["code"]) == (409, "LOUSHO_APPROVAL_CONFLICT")
    assert one(whole, "tool.error")["toolName"] == "wire_money"


def test_an_approval_may_edit_the_arguments() -> None:
    """The call goes on with the arguments of the approval, and other shapes than an object are refused."""
    with serve([{"steps": [{"tools": [WIRE]}, {"text": "x"}]}]) as server:
        [wire] = requests_in(ask(server))
        assert post_decision(server, wire, {"approved": True, "args": [1]}).status_code == 400
        events = events_in(post_decision(server, wire, {"approved": True, "args": {"eur": 1}}).text)
    assert one(events, "tool.resume")["args"] == {"eur": 1}


def test_a_sign_in_is_awaited() -> None:
    """A call that needs a sign-in says where, and a decision before it is answered with 409 and its code."""
    sign_in = {"provider": "github", "url": "https://login.test/start", "too_early": 1}
    with serve([{"steps": [{"tools": [{"name": "open_ticket", "sign_in": sign_in}]}, {"text": "x"}]}]) as server:
        [request] = requests_in(ask(server))
        early = post_decision(server, request, {"approved": True})
        events = events_in(post_decision(server, request, {"approved": True}).text)
    assert request["kind"] == "sign-in"
    assert request["signIn"] == {"provider": "github", "url": "https://login.test/start"}
    assert (early.status_code, early.json()["code"]) == (409, "LOUSHO_SIGNIN_PENDING")
    assert one(events, "run.done")["finishReason"] == "stop"


@pytest.mark.parametrize(("expires", "end"), [(0, "tool.error"), ("10m", "tool.done")])
def test_an_approval_that_expired_is_a_denial(expires: Any, end: str) -> None:
    """An approval after `expiresAt` counts as a denial, one before it as what it is."""
    with serve([{"steps": [{"tools": [{**WIRE, "expires": expires}]}, {"text": "x"}]}]) as server:
        [wire] = requests_in(ask(server))
        events = events_in(post_decision(server, wire, {"approved": True}).text)
    assert wire["expiresAt"].endswith("Z")
    assert one(events, end)["toolName"] == "wire_money"


def test_a_client_that_leaves_may_stop_the_turn() -> None:
    """A server that aborts does not finish the turn whose client left, and takes the next turn at once."""
    slow = {"when": {"turn": 1}, "steps": [{"tools": [{"name": "slow", "duration": "10m"}]}], "text": "never"}
    script: dict[str, Any] = {"when_client_leaves": "abort", "replies": [slow, {"text": "next"}]}
    with serve(script) as server:
        with raw_turn(server, "leaving") as connection:
            read_until(connection, b"tool.start")
        assert one(events_in(post(server, "back").text), "run.done")["text"] == "next"
        assert [message["content"] for message in transcript(server)["messages"]] == ["back", "next"]
