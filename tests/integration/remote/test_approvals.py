"""A run that pauses for a decision and goes on, and the transcript of its session."""

import json

import pytest

from remote_evals import RemoteStatusError, RemoteStreamError, RemoteTarget, UsageError
from tests.serving.deployments import PATIENT, REFUND, listen, sending, serve

TOKEN = "right-token-1"


async def test_a_decided_run_is_one_turn() -> None:
    """A run that goes on after a decision is the same turn: one call, steps added, the later usage, one trace."""
    with serve(REFUND, token=TOKEN) as server:
        async with RemoteTarget(server.url, TOKEN, limits=PATIENT) as target, target.open_session() as session:
            paused = await session.send("refund", 1)
            assert paused.pending_approval is not None
            ended = await session.decide(paused.pending_approval.approval_id, {"approved": True, "note": "go"})
        turn, decision = server.requests
    assert (paused.finish_reason, paused.steps, paused.tool_calls[0].outcome) == ("awaiting-approval", 1, None)
    assert (ended.turn, ended.finish_reason, ended.reply, ended.steps) == (1, "stop", "Done.", 2)
    assert [(call.name, call.outcome, call.result) for call in ended.tool_calls] == [("issue_refund", "ok", "refunded")]
    assert ended.pending_approval is None
    assert ended.usage is not None
    assert ended.usage.total_tokens == 37
    assert ended.usage.cost_usd == pytest.approx(0.003)
    assert decision.path == f"/chat/{session.id}/approvals/{paused.pending_approval.approval_id}"
    assert decision.body == {"approved": True, "note": "go"}
    assert decision.headers["authorization"] == f"Bearer {TOKEN}"
    parents = [request.headers["traceparent"].split("-") for request in (turn, decision)]
    assert [trace for _, trace, _, _ in parents] == [paused.trace_id, ended.trace_id]
    assert paused.trace_id == ended.trace_id
    assert parents[0][2] != parents[1][2]
    assert ended.timing.total_ms > paused.timing.total_ms


async def test_a_rejected_call_failed() -> None:
    """A call that was rejected is the same call, ended with an error, and the run goes on."""
    with serve(REFUND) as server:
        async with RemoteTarget(server.url, limits=PATIENT) as target, target.open_session() as session:
            paused = await session.send("refund", 1)
            assert paused.pending_approval is not None
            ended = await session.decide(paused.pending_approval.approval_id, {"approved": False})
    [call] = ended.tool_calls
    assert (ended.finish_reason, call.outcome) == ("stop", "error")


async def test_the_transcript_is_that_of_the_session() -> None:
    """The transcript has the messages of this session alone, read with the token and scrubbed of it."""
    with serve({"text": "You said {{input}} {{authorization}}"}, token=TOKEN) as server:
        async with (
            RemoteTarget(server.url, TOKEN, limits=PATIENT) as target,
            target.open_session() as session,
            target.open_session() as other,
        ):
            await session.send("one", 1)
            await other.send("two", 1)
            messages = await session.transcript()
        asked = server.requests[-1]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert "one" in json.dumps(messages[0])
    assert "You said one Bearer [redacted]" in json.dumps(messages[1])
    assert (asked.method, asked.path) == ("GET", f"/chat/{session.id}")


async def test_an_unknown_approval_is_a_status() -> None:
    """A decision that nothing waits for any more fails as any request does, and what was seen of the turn is kept."""
    with serve(REFUND) as server:
        async with RemoteTarget(server.url, limits=PATIENT) as target, target.open_session() as session:
            paused = await session.send("refund", 1)
            with pytest.raises(RemoteStatusError) as caught:
                await session.decide("no/such id?", {"approved": True})
            assert server.requests[-1].path.startswith(f"/chat/{session.id}/approvals/no")
    error = caught.value
    assert (error.code, error.status) == ("REMOTE_STATUS", 404)
    assert error.url == f"{server.url}/chat/{session.id}/approvals/no%2Fsuch%20id%3F"
    assert error.partial is not None
    assert (error.partial.finish_reason, error.partial.trace_id) == (None, paused.trace_id)
    assert [call.name for call in error.partial.tool_calls] == ["issue_refund"]


async def test_a_decision_before_any_turn_is_a_usage_error() -> None:
    """Where nothing was sent there is nothing to decide, and nothing is sent for it."""
    with serve(REFUND) as server:
        async with RemoteTarget(server.url, limits=PATIENT) as target, target.open_session() as session:
            with pytest.raises(UsageError, match="nothing was sent yet"):
                await session.decide("a", {"approved": True})
        assert server.requests == []


@pytest.mark.parametrize("body", ["[]", "{}", '{"messages": [1]}', "no JSON"])
async def test_a_transcript_of_another_shape_is_told(body: str) -> None:
    """What is no list of messages is an error of the deployment, not of the reader."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    async with (
        listen(sending(f"{head}{body}".encode())) as host,
        RemoteTarget(f"http://{host}", limits=PATIENT) as target,
        target.open_session() as session,
    ):
        with pytest.raises(RemoteStreamError, match="not a JSON object with a list of messages"):
            await session.transcript()
