"""What `doctor` finds about the end of a run, the agent's memory, and the session's transcript."""

import pytest

from remote_evals.doctor import MemoryProbe
from tests.contract.replay import RUN_DONE, Connection
from tests.serving.deployments import REFUND, listen, serve
from tests.serving.diagnosis import TOKEN, Agent, examine_at, find, statuses


async def test_a_run_that_fails() -> None:
    """A run that did not end normally fails; memory and transcript are not checked, and access is."""
    with serve({"error": {"name": "ModelError", "message": "no key"}}, token=TOKEN) as server:
        diagnosis, reported = await examine_at(server.url, TOKEN)
    found = {finding.check: finding for finding in reported}
    assert statuses(found, "turn", "end", "no_token", "wrong_token") == ["pass", "fail", "pass", "pass"]
    assert "ModelError: no key" in found["end"].happened
    assert statuses(found, "memory", "transcript") == ["not_checked", "not_checked"]
    assert (diagnosis.is_fit, diagnosis.error_code) == (False, None)


async def test_a_run_that_waits_for_a_decision() -> None:
    """A prompt that makes the agent ask for approval fails, and no decision is sent."""
    with serve(REFUND) as server:
        found = await find(server.url, probe=MemoryProbe("refund {number}"))
        assert not [request for request in server.requests if "approvals" in request.path]
    assert statuses(found, "end", "memory") == ["fail", "not_checked"]


async def test_a_second_turn_that_does_not_remember() -> None:
    """An agent that forgot the first turn is a warning that quotes its reply."""
    with serve({"when": {"turn": 2}, "text": "Which number?"}, {"text": "noted"}) as server:
        found = await find(server.url)
    assert found["memory"].status == "warn"
    assert "it says 'Which number?'" in found["memory"].happened


async def test_a_second_turn_that_breaks() -> None:
    """A second turn that breaks fails, and the later checks are still made."""
    with serve({"when": {"turn": 2}, "text": "x", "fault": "server-error"}, {"text": "noted"}) as server:
        diagnosis, reported = await examine_at(server.url)
    found = {finding.check: finding for finding in reported}
    assert statuses(found, "memory", "transcript", "no_token") == ["fail", "pass", "warn"]
    assert diagnosis.error_code == "REMOTE_STATUS"


@pytest.mark.parametrize("body", ['{"messages": []}', "not found"])
async def test_a_transcript_that_cannot_be_read_is_a_warning(body: str) -> None:
    """A transcript that is empty or unreadable is a warning, because only some evals need it."""
    kind = b"application/json" if body.startswith("{") else b"text/plain"

    async def answer(connection: Connection) -> None:
        if connection.request_line.startswith("POST"):
            await connection.send([b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", RUN_DONE])
        else:
            await connection.send([b"HTTP/1.0 200 OK\r\ncontent-type: %b\r\n\r\n%b" % (kind, body.encode())])

    async with listen(answer) as host:
        found = await find(f"http://{host}")
    assert found["transcript"].status == "warn"
    assert "t.transcript()" in found["transcript"].advice


async def test_a_prompt_of_ones_own_without_a_number_is_one_turn() -> None:
    """A prompt without a number has no second turn, so memory is not checked."""
    agent = Agent(".*")
    async with agent.serve() as url:
        found = await find(url, probe=MemoryProbe("Say hello."))
    assert found["memory"].status == "not_checked"
    assert [prompt for prompt, _ in agent.turns] == ["Say hello."]
