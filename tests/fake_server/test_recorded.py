"""The fake server sends what the reference server sent, event by event and field by field."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fake_server import FakeServer, load_script, parse_script
from tests.fake_server.wire_client import ask, decide, events_in, one, post, send, unstamped

RECORDED = Path(__file__).parents[1] / "contract" / "recordings"
SCRIPT = Path(__file__).parent / "recorded.fake.yaml"
ONE_TURN = [
    "01_plain",
    "02_tool_call",
    "03_parallel_tools",
    "04_tool_error",
    "05_approval_pause",
    "06_model_error",
    "07_max_steps",
    "09_subagent",
    "10_cost",
    "12_unicode",
    "13_object",
    "14_deltas",
    "15_reasoning",
    "20_empty_text",
]
FINER_DELTAS = {"15_reasoning"}


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    """Serve the script of the recordings for all tests of this module."""
    with FakeServer(load_script(SCRIPT)) as server:
        yield server


def recording(name: str) -> str:
    """Return the recorded body."""
    return (RECORDED / f"{name}.sse").read_bytes().decode("utf-8")


@pytest.mark.parametrize("name", ONE_TURN)
def test_a_turn_is_the_recorded_one(server: FakeServer, name: str) -> None:
    """A turn has the recorded events, apart from ids and times."""
    sent, expected = unstamped(ask(server, name, name)), unstamped(events_in(recording(name)))
    if name in FINER_DELTAS:
        sent, expected = without_deltas(sent), without_deltas(expected)
    assert sent == expected


@pytest.mark.parametrize(
    ("name", "method", "path", "content"),
    [
        ("11c3_empty_body_400", "POST", "/chat", "{}"),
        ("11c_bad_json_400", "POST", "/chat", '{"sessionId": '),
        ("11d3_no_session_400", "POST", "/chat", '{"input": "hi"}'),
        ("11d_bad_session_400", "POST", "/chat", '{"sessionId": "a b/..", "input": "hi"}'),
        ("11e_too_large_413", "POST", "/chat", " " * 1_100_000),
        ("11f_404_path", "GET", "/nope", ""),
        ("11f3_404_put_chat", "PUT", "/chat", ""),
        ("11g_health_no_token", "GET", "/health", ""),
        ("11h_unknown_session_transcript", "GET", "/chat/never", ""),
        ("11i_approval_unknown_404", "POST", "/chat/s/approvals/abc", '{"approved": true}'),
        ("05d_approve_bad_body", "POST", "/chat/s/approvals/abc", "{}"),
    ],
)
def test_an_answer_without_a_stream_is_the_recorded_one(
    server: FakeServer, name: str, method: str, path: str, content: str
) -> None:
    """An answer that is not a stream has the recorded status, content type and body."""
    answer = send(server, method, path, content=content)
    status, *headers = (RECORDED / f"{name}.headers").read_text("utf-8").splitlines()
    assert answer.status_code == int(status.split()[1])
    assert f"content-type: {answer.headers['content-type']}" in headers
    assert answer.text == recording(name)


@pytest.mark.parametrize("token", [None, "Bearer wrong", "Basic secret"])
def test_a_refused_token_is_answered_as_recorded(token: str | None) -> None:
    """A missing or wrong token gets the recorded 401."""
    name = "11a_no_token_401"
    with FakeServer(parse_script("token: secret\nreplies: [{text: hi}]")) as server:
        answer = httpx.get(f"{server.url}/chat/s", headers={"authorization": token} if token else {})
    recorded = (RECORDED / f"{name}.headers").read_text("utf-8").splitlines()
    assert {f"{key}: {answer.headers[key]}" for key in ("cache-control", "www-authenticate")} <= set(recorded)
    assert (answer.status_code, answer.text) == (401, recording(name))


def test_a_transcript_while_paused_is_the_recorded_one(server: FakeServer) -> None:
    """The transcript of a paused session is the recorded one, apart from the approval id."""
    approval = one(ask(server, "05_approval_pause", "appr"), "approval.requested")["approvalId"]
    recorded = json.loads(recording("05c_transcript_while_paused"))
    expected = {**recorded, "pending": {**recorded["pending"], "approvalId": approval}}
    assert send(server, "GET", "/chat/appr").json() == expected


def without_deltas(events: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the events without the deltas, and without the numbers that these change."""
    kept = [event for event in events if not str(event["type"]).endswith(".delta")]
    return [{key: value for key, value in event.items() if key != "seq"} for event in kept]


@pytest.mark.parametrize(("name", "decision"), [("05e_approve", True), ("05h_reject", False)])
def test_a_continuation_is_the_recorded_one(server: FakeServer, name: str, decision: bool) -> None:
    """An approval and a rejection continue the run with the recorded events."""
    sent = decide(server, ask(server, "05_approval_pause", name), {"approved": decision}, name)
    # the recorded rejection is the second call of its agent
    expected = recording(name).replace("call_2", "call_1")
    assert unstamped(sent) == unstamped(events_in(expected))


def test_two_turns_of_a_session_are_the_recorded_ones(server: FakeServer) -> None:
    """Two turns of one session, and its transcript, are the recorded ones."""
    sent = [ask(server, "My name is Ali.", "mt"), ask(server, "What is my name?", "mt")]
    expected = [events_in(recording("08_multi_turn_1")), events_in(recording("08_multi_turn_2"))]
    assert [unstamped(events) for events in sent] == [unstamped(events) for events in expected]
    assert send(server, "GET", "/chat/mt").text == recording("08_multi_turn_transcript")


def test_every_stamp_of_the_reference_is_there(server: FakeServer) -> None:
    """Each event has all the fields of the recorded one, including ids and times."""
    sent, expected = ask(server, "01_plain", "stamps"), events_in(recording("01_plain"))
    assert [sorted(event) for event in sent] == [sorted(event) for event in expected]


def test_the_bytes_around_the_events_are_the_recorded_ones(server: FakeServer) -> None:
    """Characters, spacing and the end of the stream are the recorded bytes."""
    sent, expected = post(server, "12_unicode", "bytes").content, (RECORDED / "12_unicode.sse").read_bytes()
    frames, expected_frames = sent.split(b"\n\n"), expected.split(b"\n\n")
    assert frames[-2:] == expected_frames[-2:] == [b"event: done\ndata: {}", b""]
    assert frames[-3].split(b'"usage"')[0] == expected_frames[-3].split(b'"usage"')[0]
