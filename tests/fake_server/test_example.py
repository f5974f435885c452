"""The example deployment answers as its comments say, and fast enough for a tutorial."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_server import FakeServer
from tests.fake_server.wire_client import ask, decide, one, serve, transcript

EXAMPLE = Path(__file__).parents[2] / "examples" / "refund.fake.yaml"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    """Run the example deployment for all tests of this module."""
    with serve(EXAMPLE.read_text("utf-8")) as server:
        yield server


def calls(events: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Return the name and the arguments of each tool call."""
    return [(event["toolName"], event["args"]) for event in events if event["type"] == "tool.start"]


def reply(events: list[dict[str, Any]]) -> str:
    """Return the text of a run."""
    return str(one(events, "run.done")["text"])


def test_it_is_guarded(server: FakeServer) -> None:
    """The example asks for its demo token."""
    assert server.token == "demo-token-123"


def test_order_41_is_looked_up(server: FakeServer) -> None:
    """A question about order 41 calls one tool, and the reply has its status."""
    events = ask(server, "Where is order 41?", "lookup")
    assert calls(events) == [("lookup_order", {"orderId": "41"})]
    assert "shipped" in reply(events)


def test_order_41_is_refunded_after_a_look(server: FakeServer) -> None:
    """Order 41 is looked up before it is refunded."""
    events = ask(server, "Please refund my order 41.", "refund")
    assert calls(events) == [
        ("lookup_order", {"orderId": "41"}),
        ("issue_refund", {"orderId": "41", "amount": 59.9}),
    ]
    assert "refunded" in reply(events)


def test_order_99_is_not_refunded(server: FakeServer) -> None:
    """The lookup of order 99 fails, and no refund is issued."""
    events = ask(server, "Refund order 99", "unknown")
    assert calls(events) == [("lookup_order", {"orderId": "99"})]
    assert one(events, "tool.error")["error"]["name"] == "OrderNotFoundError"
    assert "cannot refund" in reply(events)


def test_order_77_waits_for_an_approval(server: FakeServer) -> None:
    """The refund of order 77 pauses, and the turn ends after the decision."""
    asked = ask(server, "Refund order 77", "large")
    assert one(asked, "approval.requested")["toolName"] == "issue_refund"
    assert "order 77" in reply(decide(server, asked, {"approved": True}, "large"))


def test_a_question_about_the_policy_is_answered_from_the_docs(server: FakeServer) -> None:
    """A question about returns searches the help pages."""
    events = ask(server, "How long do I have to return something?", "policy")
    assert calls(events) == [("search_docs", {"query": "refund policy"})]
    assert "30 days" in reply(events)


def test_it_remembers_a_name_within_a_session(server: FakeServer) -> None:
    """A name is known in the second turn of its session, and in no other session."""
    assert [reply(ask(server, message, "ada")) for message in ("My name is Ada.", "What is my name?")] == [
        "Nice to meet you, Ada. How can I help?",
        "Your name is Ada.",
    ]
    assert "Ada" not in reply(ask(server, "What is my name?", "stranger"))


def test_a_question_about_carriers_is_delegated(server: FakeServer) -> None:
    """A question about carriers is answered by the researcher sub-agent."""
    events = ask(server, "Which carrier is the fastest?", "carriers")
    assert [name for name, _ in calls(events)] == ["task", "search_docs"]
    assert {event["subagent"]["name"] for event in events if "subagent" in event} == {"researcher"}


def test_anything_else_gets_a_friendly_question(server: FakeServer) -> None:
    """Any other input is asked for an order number."""
    assert "order number" in reply(ask(server, "Hello!", "other"))


def test_every_turn_has_its_cost_and_takes_a_moment(server: FakeServer) -> None:
    """A turn reports its cost, and takes between 0.1 and 2 seconds."""
    began_s = time.monotonic()
    usage = one(ask(server, "Please refund my order 41.", "cost"), "run.done")["usage"]
    assert usage["costUsd"] == 0.00247
    assert 0.1 < time.monotonic() - began_s < 2


def test_a_transcript_tells_the_conversation(server: FakeServer) -> None:
    """The transcript has the message of the user and that of the assistant."""
    ask(server, "Hello!", "told")
    assert [message["role"] for message in transcript(server, "told")["messages"]] == ["user", "assistant"]
