"""The page on protocols: its frames, fields, warnings and example of another protocol are those of the code."""

import asyncio
import json
import re
from typing import Any

import pytest

from remote_evals import EvalCase, EvalResult, EvalRunner, RemoteTarget
from remote_evals.errors import RemoteStatusError, RemoteStreamError, RemoteUnauthorizedError
from remote_evals.protocols.base import Protocol, SessionRequests
from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.events import Event, UnknownEvent
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.results import RunResult
from tests.contract.facts import RECORDINGS
from tests.docs.command_lines import COMMANDS, list_options
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
)
from tests.serving.command import ROOT, run_python
from tests.serving.deployments import PATIENT, REFUND, STREAM_HEAD, Connection, chunks, listen, serve

PAGE = "remote_evals/protocols/README.md"
TEXT = " ".join(read(PAGE).split())
(STREAM,) = fenced_blocks(PAGE, "")


def test_links_options_and_lines_are_sound() -> None:
    """Every link leads somewhere, every option exists, and no line is too long to be read."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []
    assert named_options(TEXT) <= {option for command in COMMANDS for option in list_options(command)}


def test_the_cited_recordings_exist() -> None:
    """Each recording that the page cites is one of those that the tests replay."""
    cited = re.findall(r"contract/recordings/(\w+)\.sse", read(PAGE))
    assert len(cited) >= 6
    assert set(cited) <= set(RECORDINGS)
    assert all((ROOT / "tests" / "contract" / "recordings" / f"{name}.sse").exists() for name in cited)


def read_events(stream: str) -> list[Event]:
    """Return the events of a stream of the `/chat` protocol."""
    reader = CHAT.open_reader(str, 2**20)
    return list(reader.feed(stream.encode()))


def build(*frames: dict[str, Any]) -> RunResult:
    """Return the run of some frames."""
    builder = RunBuilder(CHAT.open_order())
    for frame in frames:
        builder.add(parse_event(frame), at_ms=1.0)
    return builder.result(total_ms=2.0)


def test_the_example_stream_is_a_whole_run() -> None:
    """The frames of the page are events without any warning, and make the run that they show."""
    builder = RunBuilder(CHAT.open_order())
    events = read_events(STREAM)
    for event in events:
        builder.add(event, at_ms=1.0)
    run = builder.result(total_ms=2.0)
    assert not any(isinstance(event, UnknownEvent) for event in events)
    assert events[-1].type == "done"
    assert (run.reply, run.finish_reason, run.steps, run.warnings) == ("Shipped.", "stop", 2, ())
    assert [(call.name, call.outcome) for call in run.tool_calls] == [("lookup_order", "ok")]
    assert (run.usage and run.usage.total_tokens, run.missing) == (57, ())


async def test_the_requests_are_as_told() -> None:
    """The paths, bodies and headers of a session are those of the page."""
    case = {"name": "a", "turns": [{"prompt": "refund", "finish_reason": "awaiting-approval"}, {"approve": "yes"}]}
    with serve(REFUND, token="right-token-1") as server:
        target = RemoteTarget(f"{server.url}", "right-token-1", limits=PATIENT)
        report = await EvalRunner(target).arun(EvalCase.model_validate(case))
        turn, decision = server.requests
    session = report.results[0].session_id
    assert report.pass_rate == 1.0, report.summary()
    assert re.fullmatch(r"eval-[0-9a-f]{24}", session or "")
    assert (turn.path, turn.body) == ("/chat", {"sessionId": session, "input": "refund"})
    assert re.fullmatch(rf"/chat/{session}/approvals/[\w-]+", decision.path)
    assert decision.body == {"approved": True, "note": "yes"}
    for request in (turn, decision):
        assert request.headers["authorization"] == "Bearer right-token-1"
        assert request.headers["accept"] == "text/event-stream"
        assert request.headers["content-type"] == "application/json"
        assert "traceparent" in request.headers


def test_the_paths_are_as_told() -> None:
    """Each path of the table is one that the protocol asks for."""
    requests = CHAT.open_session("<sessionId>")
    decision = requests.decide("approvalId", {"answer": "x"})
    asked = [CHAT.health, requests.send("x"), decision, requests.transcript()]
    told = [find_code(row[0])[0].replace("<approvalId>", "approvalId") for row in find_table(PAGE, "request").rows]
    assert told == [f"{request.method} {request.path}" for request in asked]


ANSWERS = {"`401`, `403`": "401 Unauthorized", "any other": "500 Oops", "`200`": "200 OK"}


@pytest.mark.parametrize("row", find_table(PAGE, "answer").rows, ids=lambda row: row[0])
async def test_an_answer_without_a_stream_is_reported_as_told(row: list[str]) -> None:
    """Each kind of answer is the error whose code the page names, which quotes the body."""
    (status,) = [status for start, status in ANSWERS.items() if row[0].startswith(start)]
    body = b'{"error": "a page"}'

    async def answer(connection: Connection) -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n\r\n"
        await connection.send([head.encode(), body])

    errors = (RemoteUnauthorizedError, RemoteStatusError, RemoteStreamError)
    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        with pytest.raises(errors, match="a page") as caught:
            await session.send("hi", 1)
    assert caught.value.code == find_code(row[1])[0]


SAMPLES: dict[str, Any] = {
    "step": 3,
    "durationMs": 12,
    "args": {"a": 1},
    "error": {"name": "Broken", "message": "it broke", "code": "E1"},
    "kind": "sign-in",
    "question": {"text": "Which?"},
    "signIn": {"provider": "github", "url": "https://login.test"},
    "usage": {"totalTokens": 5},
}


@pytest.mark.parametrize("row", find_table(PAGE, "`type`").rows, ids=lambda row: row[0])
def test_the_fields_of_an_event_are_read(row: list[str]) -> None:
    """Each type of the table is known, and each field beside it makes a difference."""
    (kind,) = find_code(row[0])
    bare = parse_event({"type": kind})
    assert not isinstance(bare, UnknownEvent)
    for field in find_code(row[1]):
        assert parse_event({"type": kind, field: SAMPLES.get(field, "x")}) != bare, field


def test_every_known_type_is_told() -> None:
    """The other types that the page names are accepted and unknown; those of the recordings are all told."""
    known = {find_code(row[0])[0] for row in find_table(PAGE, "`type`").rows}
    others = set(find_code(re.findall(r"Other types are accepted.*?\. ", TEXT)[0]))
    assert {kind for kind in others if not isinstance(parse_event({"type": kind}), UnknownEvent)} == set()
    recorded = {
        kind
        for path in (ROOT / "tests" / "contract" / "recordings").glob("*.sse")
        for kind in re.findall(r'"type":"([a-z.]+)"', path.read_text("utf-8"))
        if "." in kind
    }
    assert recorded <= known | others


def test_the_fields_of_objects_are_read() -> None:
    """Each field of an error and of the usage makes a difference."""
    rows = {find_code(row[0])[0]: find_code(row[1]) for row in find_table(PAGE, "object").rows}
    for field in rows["error"]:
        assert parse_event({"type": "error", "error": {field: "x"}}) != parse_event({"type": "error", "error": {}})
    for field in rows["usage"]:
        others = {} if field.endswith("Tokens") else {"totalTokens": 1}
        needed = {"inputTokens": 1, "outputTokens": 1} if field.startswith(("prompt", "completion")) else {}
        without = {name: 1 for name in needed if name[:3] not in {"prompt": "inp", "completion": "out"}[field[:-6]]}
        value: Any = True if field == "estimated" else 7
        base = {"inputTokens": 1, "outputTokens": 1, **others} if not needed else without
        changed = parse_event({"type": "run.done", "usage": {**base, field: value}})
        assert changed != parse_event({"type": "run.done", "usage": base}), field


def test_the_fields_of_every_event_are_told() -> None:
    """The fields that all events may have, and those of a sub-agent, are read."""
    fields = [find_code(row[0])[0] for row in find_table(PAGE, "field").rows]
    assert fields == ["type", "runId", "seq", "v", "timestamp", "subagent"]
    outer = {"name": "outer", "toolCallId": "call_1"}
    event = parse_event({"type": "x", "subagent": {"name": "inner", "toolCallId": "call_2", "parent": outer}})
    assert event.subagent is not None
    assert (event.subagent.path, event.subagent.call_ids) == (("outer", "inner"), ("call_1", "call_2"))
    stamped = parse_event({"type": "x", "timestamp": "1970-01-01T00:00:01Z"})
    assert CHAT.read_timestamp(stamped) == 1000


def test_keep_alives_are_no_events() -> None:
    """The types that the page calls keep-alives do not show that a run is alive."""
    kinds = find_code(re.findall(r"events of the types (.*?), keep", TEXT)[0])
    assert len(kinds) == 4
    builder = RunBuilder(CHAT.open_order())
    assert [kind for kind in kinds if builder.add(parse_event({"type": kind}), at_ms=1.0)] == []


@pytest.mark.parametrize("reason", find_code(re.findall(r"others are (.*?) and whatever", TEXT)[0]))
def test_any_other_end_is_not_normal(reason: str) -> None:
    """Only `stop` is a normal end."""
    assert not build({"type": "run.done", "finishReason": reason}).ended_normally
    assert build({"type": "run.done", "finishReason": "stop"}).ended_normally


def test_several_requests_are_pending() -> None:
    """Of two requests in one pause both are what the run waits for, in their order."""
    requests = [{"type": "approval.requested", "approvalId": name} for name in ("first", "second")]
    run = build(*requests, {"type": "run.done", "finishReason": "awaiting-approval"})
    assert [one.approval_id for one in run.pending_approvals] == ["first", "second"]


START: dict[str, Any] = {"type": "run.start", "runId": "r1", "seq": 0, "v": 1}
END: dict[str, Any] = {"type": "run.done", "runId": "r1", "finishReason": "stop", "text": "Hello.", "seq": 2, "v": 1}


def delta(**fields: Any) -> dict[str, Any]:
    """Return a piece of the reply, with other fields."""
    return {"type": "text.delta", "runId": "r1", "text": "Hello.", "seq": 1, "v": 1, **fields}


def send_frames(*frames: dict[str, Any]) -> bytes:
    """Return frames as they are sent, and the closing one."""
    return b"".join(b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames) + b"event: done\ndata: {}\n\n"


# Each row of the table of warnings, by its first words.
STREAMS = {
    "a `seq` that leaves": send_frames(START, {**END, "seq": 3}),
    "a `seq` lower": send_frames(START, delta(), delta(seq=0), END),
    "the same event": send_frames(START, delta(), delta(), END),
    "an event with another": send_frames(START, delta(runId="r2"), {**END, "seq": 1}),
    "another `v`": send_frames(START, delta(v=2), END),
    "the end of a call": send_frames(START, delta(type="tool.done", toolCallId="c", toolName="t"), END),
    "a step that never": send_frames(START, delta(type="step.start", step=1), END),
    "a second": send_frames(START, delta(), END, {**END, "seq": 3}),
    "another event after": send_frames(START, delta(), END, delta(seq=3)),
    "no `event: done`": send_frames(START, delta(), END).replace(b"event: done\ndata: {}\n\n", b""),
    "a byte that": send_frames(START, delta(text="X"), END).replace(b"X", b"\xff"),
}


async def run_stream(stream: bytes, *, strict_protocol: bool = False, **checks: Any) -> EvalResult:
    """Return the result of a case against a deployment that answers with this stream."""

    async def answer(connection: Connection) -> None:
        await connection.send([STREAM_HEAD, *chunks([stream])])

    case = EvalCase.model_validate({"name": "a", "prompt": "hi", **checks})
    async with listen(answer) as host:
        target = RemoteTarget(f"http://{host}", limits=PATIENT)
        report = await EvalRunner(target, strict_protocol=strict_protocol).arun(case)
    return report.results[0]


@pytest.mark.parametrize("row", find_table(PAGE, "what came").rows, ids=lambda row: row[0])
async def test_what_is_odd_is_one_warning(row: list[str]) -> None:
    """Each row of the table is one warning, and a failure only with `strict_protocol`."""
    (stream,) = [stream for start, stream in STREAMS.items() if row[0].startswith(start)]
    result = await run_stream(stream)
    assert (result.status, len(result.run.warnings)) == ("passed", 1), result
    assert (await run_stream(stream, strict_protocol=True)).status == "failed"


def test_every_warning_has_its_row() -> None:
    """The table has as many rows as there are streams to try."""
    assert len(find_table(PAGE, "what came").rows) == len(STREAMS)


async def test_lost_events_make_no_failure() -> None:
    """With a gap, a check that may need what was lost is an error, and one that saw enough still counts."""
    gap = STREAMS["a `seq` that leaves"]
    needs, seen = await run_stream(gap, expected_tools=["lookup"]), await run_stream(gap, must_not_contain="Hello")
    assert (needs.status, needs.error and needs.error.code) == ("error", "REMOTE_STREAM")
    assert seen.status == "failed"


async def test_two_runs_in_one_stream_are_an_error() -> None:
    """Where the stream began in the middle of a run and another came, nothing tells which is meant."""
    result = await run_stream(send_frames(delta(seq=0), {**START, "runId": "r2"}, END))
    assert (result.status, result.error and result.error.code) == ("error", "REMOTE_STREAM")


@pytest.mark.parametrize("interface", [Protocol, SessionRequests])
def test_every_member_of_an_interface_is_told(interface: type) -> None:
    """The tables have each member that another protocol must have."""
    rows = find_table(PAGE, f"member of `{interface.__name__}`").rows
    members = [name for name in vars(interface) if not name.startswith("_")]
    assert [find_code(row[0])[0] for row in rows] == members


async def test_the_other_protocol_runs() -> None:
    """The page's protocol passes its case as it stands, against a deployment that speaks it."""
    (code,) = fenced_blocks(PAGE, "python")
    asked: list[tuple[str, Any]] = []
    events = [
        ("calls", {"id": "1", "tool": "look_up", "with": {"at": "north"}}),
        ("returned", {"id": "1", "value": "stars"}),
        ("thought", {}),
        ("hums", {}),
        ("says", {"words": "It is clear."}),
        ("bye", {"well": True}),
    ]
    frames = [f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events]

    async def answer(connection: Connection) -> None:
        asked.append((connection.request_line, connection.body))
        await connection.send([STREAM_HEAD, *chunks(frames)])

    async with listen(answer) as host:
        done = await asyncio.to_thread(run_python, "-c", code.replace("127.0.0.1:8000", host))
    assert done.code == 0, done.all
    ((line, body),) = asked
    assert re.match(r"PUT /ask/eval-[0-9a-f]{24} ", line)
    assert body == {"question": "How is the sky?"}
