"""The recorded pauses and decisions of a real deployment, replayed as one conversation over a socket."""

import json
from typing import Any

from remote_evals import Eval, EvalContext, EvalResult, EvalRunner, RemoteTarget
from tests.contract.facts import FACTS, get_facts, load_body
from tests.contract.replay import Connection, chunks, listen, load_head_bytes


async def play(test: Any, pause: str, decided: str) -> tuple[EvalResult, list[tuple[str, Any]]]:
    """Return the result of a case against the recordings, and the requests that it sent."""
    asked: list[tuple[str, Any]] = []

    async def answer(connection: Connection) -> None:
        method, path, _ = connection.request_line.split(" ")
        asked.append((f"{method} {path}", connection.body))
        name = decided if "/approvals/" in path else "05c_transcript_while_paused" if method == "GET" else pause
        await connection.send([load_head_bytes(name), *chunks([load_body(name)])])

    async with listen(answer) as host:
        [result] = (await EvalRunner(RemoteTarget(f"http://{host}"), timeout_s=20).arun(Eval("a", test))).results
    return result, asked


def approval_id(pause: str) -> str:
    """Return the recorded approval id."""
    return str(FACTS[pause]["approval"]["approval_id"])


async def test_the_recorded_approval_is_one_run() -> None:
    """The recorded run pauses, is approved and ends: one call that succeeded, two steps, and the usage of its end."""

    async def test(t: EvalContext) -> None:
        await t.send("send it")
        assert t.pending is not None
        await t.approve("go")
        t.completed()
        t.called_tool("send_email", args={"to": "a@example.com"}, times=1, outcome="ok")
        t.max_steps(2)
        t.max_tokens(63)

    result, asked = await play(test, "05_approval_pause", "05e_approve")
    assert result.passed, (result.error, result.failures)
    assert (result.iterations, result.output) == (2, "Done, as you decided.")
    assert result.run.usage is not None
    assert (result.run.usage.total_tokens, result.run.usage.model_calls) == (63, 2)
    path = f"/chat/{result.session_id}/approvals/{approval_id('05_approval_pause')}"
    assert asked[1] == (f"POST {path}", {"approved": True, "note": "go"})


async def test_the_recorded_rejection_is_one_run() -> None:
    """The recorded run that is rejected continues to its end, and its one call failed as rejected."""

    async def test(t: EvalContext) -> None:
        await t.send("send it")
        await t.reject()
        t.completed()
        t.called_tool("send_email", times=1, outcome="error")

    result, asked = await play(test, "05g_pause_for_reject", "05h_reject")
    assert result.passed, (result.error, result.failures)
    [call] = result.run.tool_calls
    assert call.error is not None
    assert call.error.name == "ToolRejectedError"
    assert asked[1][1] == {"approved": False}


async def test_the_recorded_refusal_of_a_second_decision_is_told() -> None:
    """A second decision on an approval is an error of the case, with the message of the real deployment."""

    async def test(t: EvalContext) -> None:
        await t.send("send it")
        await t.approve()

    result, _ = await play(test, "05_approval_pause", "05f_approve_again_404")
    assert result.error is not None
    assert (result.status, result.error.code) == ("error", "REMOTE_STATUS")
    assert "404" in result.error.message
    assert "it was decided already" in result.error.message


async def test_the_recorded_refusal_of_a_bad_decision_is_told() -> None:
    """A decision that the real deployment cannot read is an error of the case, with its status."""

    async def test(t: EvalContext) -> None:
        await t.send("send it")
        await t.approve()

    result, _ = await play(test, "05_approval_pause", "05d_approve_bad_body")
    assert result.error is not None
    assert (result.status, result.error.code) == ("error", "REMOTE_STATUS")
    assert "400" in result.error.message


async def test_the_recorded_pause_rebuilds_to_its_facts_through_an_eval() -> None:
    """A paused run in an eval has the facts of the recording, and its transcript is that of the deployment."""
    kept: list[Any] = []

    async def test(t: EvalContext) -> None:
        kept.append(get_facts(await t.send("send it")))
        kept.append(await t.transcript())
        t.ended("awaiting-approval")

    result, _ = await play(test, "05_approval_pause", "05e_approve")
    assert result.passed, (result.error, result.failures)
    facts = FACTS["05_approval_pause"]
    assert {key: kept[0][key] for key in kept[0] if key in facts} == {
        key: facts[key] for key in kept[0] if key in facts
    }
    assert kept[1] == json.loads(load_body("05c_transcript_while_paused"))["messages"]
