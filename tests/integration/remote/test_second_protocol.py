"""A target speaks the protocol that it is given: here a small one with other paths, fields and events."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from remote_evals import EvalCase, EvalRunner, RemoteStatusError, RemoteStreamError, RemoteTarget, UsageError
from remote_evals.core.prompts import Prompt
from remote_evals.errors import MalformedStreamError, Refusal
from remote_evals.protocols.base import EventReader, Request, StreamOrder
from remote_evals.protocols.events import (
    Event,
    RunDone,
    RunStart,
    StepDone,
    TextDelta,
    ToolEnd,
    ToolStart,
    UnknownEvent,
)
from remote_evals.protocols.json_events import JsonEventReader
from remote_evals.targets import read_health
from tests.serving.deployments import PATIENT, STREAM_HEAD, Connection, chunks, listen


def parse(name: str, frame: dict[str, Any]) -> Event:
    """Return the event of a frame, by the name of its `event:` line."""
    match name:
        case "hello":
            return RunStart(name, None, frame, frame["run"])
        case "says":
            return TextDelta(name, None, frame, frame["words"])
        case "looks up":
            return ToolStart(name, None, frame, call_id=frame["nr"], name=frame["what"], args=frame["with"])
        case "found":
            return ToolEnd(name, None, frame, call_id=frame["nr"], result=frame["value"])
        case "thought":
            return StepDone(name, None, frame)
        case "bye":
            return RunDone(name, None, frame, finish_reason="stop" if frame["well"] else "error")
    return UnknownEvent(name, None, frame)


class OracleRequests:
    """The requests of one session, which sends all that was asked before once more."""

    def __init__(self, session_id: str) -> None:
        self._id = session_id
        self._asked: list[Prompt] = []

    def send(self, prompt: Prompt) -> Request:
        """Return the request that starts a turn."""
        self._asked.append(prompt)
        return Request("PUT", f"/oracle/{self._id}", {"questions": list(self._asked)})

    def decide(self, approval_id: str, decision: Mapping[str, Any]) -> Request:
        """Refuse: this protocol has no approvals."""
        raise MalformedStreamError("an oracle does not wait", "Ask it something else")

    def transcript(self) -> None:
        """Return None: an oracle gives out no transcripts."""

    def read_transcript(self, body: bytes) -> list[dict[str, Any]]:
        """Never called, as there is no transcript to ask for."""
        raise NotImplementedError


class OracleProtocol:
    """The oracle protocol."""

    title = "the oracle protocol"
    end_event = "bye"
    closing_frame = None
    health = Request("HEAD", "/is-open", accept="text/plain")

    def open_session(self, session_id: str) -> OracleRequests:
        """Return what makes the requests of a session."""
        return OracleRequests(session_id)

    def open_reader(self, scrub: Callable[[str], str], max_frame_bytes: int) -> EventReader:
        """Return a reader for one answer."""
        return JsonEventReader(parse, scrub, max_frame_bytes)

    def open_order(self, scrub: Callable[[str], str]) -> StreamOrder:
        """Return a checker that accepts any order."""
        return StreamOrder(scrub)

    def advise(self, status: int, url: str) -> str | None:
        """Return what to try when the oracle is asleep."""
        return "Wake the oracle" if status == 409 else None

    def read_refusal(self, body: str) -> Refusal:
        """Return what the oracle mutters, as the code of what it says."""
        code, _, text = body.partition("|")
        return Refusal(text, code, "Bring an offering", accepts_token=True) if text else Refusal()

    def read_timestamp(self, event: Event) -> None:
        """Return None: an oracle knows no time."""


def says(name: str, **fields: Any) -> bytes:
    """Return a frame of the oracle protocol."""
    return f"event: {name}\ndata: {json.dumps(fields)}\n\n".encode()


ANSWER = [
    says("hello", run="r1"),
    says("looks up", nr="1", what="stars", **{"with": {"sign": "leo"}}),
    says("found", nr="1", value="dim"),
    says("thought"),
    says("says", words="It is "),
    says("hums"),
    says("says", words="dim."),
    says("bye", well=True),
]


class Oracle:
    """A deployment that gives the same frames to each request, and keeps what it was asked."""

    def __init__(self, *frames: bytes, status: bytes = b"") -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self._frames = frames
        self._status = status

    async def __call__(self, connection: Connection) -> None:
        """Answer one request."""
        method, path, _ = connection.request_line.split()
        self.asked.append((method, path, connection.body))
        head = b"HTTP/1.1 204 No Content\r\n\r\n" if method == "HEAD" else self._status
        await connection.send([head] if head else [STREAM_HEAD, *chunks(list(self._frames))])


def consult(host: str) -> RemoteTarget:
    """Return the oracle as a target."""
    return RemoteTarget(f"http://{host}/temple", protocol=OracleProtocol(), limits=PATIENT, retries=0)


async def test_a_suite_runs_against_another_protocol() -> None:
    """Reply, tool calls and steps come out as they do of `/chat`, and what this protocol cannot say is missing."""
    oracle = Oracle(*ANSWER)
    case = EvalCase(
        name="leo",
        turns=[{"prompt": "What of leo?"}, {"prompt": "And now?"}],
        expected_tools=[{"name": "stars", "args": {"sign": "leo"}, "times": 2}],
        expected_output_contains="dim",
        max_steps=2,
    )
    async with listen(oracle) as host:
        report = await EvalRunner(consult(host)).arun(case)
    (row,) = report.results
    assert row.status == "passed", row
    assert row.run.tool_calls[0].result == "dim"
    assert (row.turns[0].run_id, row.turns[0].warnings) == ("r1", ())
    assert row.turns[0].missing == ("usage", "cost")
    session = f"/temple/oracle/{row.session_id}"
    assert oracle.asked == [
        ("PUT", session, {"questions": ["What of leo?"]}),
        ("PUT", session, {"questions": ["What of leo?", "And now?"]}),
    ]


async def test_its_failures_are_told_in_its_own_words() -> None:
    """A stream without the protocol's own end is an error that names it, and never one of another protocol's."""
    async with listen(Oracle(*ANSWER[:-1])) as host, consult(host) as target, target.open_session() as session:
        with pytest.raises(RemoteStreamError, match="the stream ended after says, before bye"):
            await session.send("hi", 1)


async def test_its_advice_is_given() -> None:
    """What the protocol knows of a status comes before what HTTP alone tells."""
    busy = b"HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n"
    async with listen(Oracle(status=busy)) as host, consult(host) as target, target.open_session() as session:
        with pytest.raises(RemoteStatusError, match=r"the answer was 409\. Wake the oracle\."):
            await session.send("hi", 1)


async def test_what_it_does_not_have_is_refused() -> None:
    """A transcript that the protocol cannot give is a usage error, and a decision that it cannot take an error."""
    async with listen(Oracle(*ANSWER)) as host, consult(host) as target, target.open_session() as session:
        await session.send("hi", 1)
        with pytest.raises(UsageError, match="the oracle protocol gives out no transcripts"):
            await session.transcript()
        with pytest.raises(RemoteStreamError, match=r"an oracle does not wait\. Ask it something else"):
            await session.decide("1", {"approved": True})


async def test_its_health_is_asked_in_its_way() -> None:
    """Health is the request that the protocol names."""
    oracle = Oracle()
    async with listen(oracle) as host:
        health = await read_health(consult(host))
    assert (health.status, health.failure) == (204, None)
    assert oracle.asked == [("HEAD", "/temple/is-open", None)]


async def test_its_refusals_are_read_in_its_own_way() -> None:
    """What a refused request says, its code and its advice are those that the protocol reads in the body."""
    body = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 15\r\n\r\nASLEEP|not now."
    async with listen(Oracle(status=body)) as host, consult(host) as target, target.open_session() as session:
        with pytest.raises(RemoteStatusError, match=r"403: not now\. \[ASLEEP\]\. Bring an offering\.") as caught:
            await session.send("hi", 1)
    assert caught.value.deployment_code == "ASLEEP"
