"""The rows of the fault matrix that no script has: problems of the network, the server or the token."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from fake_server import FakeServer
from remote_evals import RemoteTarget
from remote_evals.core.durations import render_duration
from remote_evals.protocols.events import Event
from remote_evals.targets.session import RemoteSession
from remote_evals.targets.stream_reader import StreamObserver
from tests.integration.faults.entries import BROKEN, NO_ANSWER, REFUSED
from tests.integration.faults.matrix import (
    CONNECTING,
    FIRST,
    HEADERS,
    INSTEAD,
    SHORT_S,
    TEXT,
    TOKEN,
    Json,
    Outcome,
    Place,
    Timer,
    breaks,
    make_limits,
    refuses,
)
from tests.serving.certificates import Authority
from tests.serving.deployments import PATIENT, STREAM_HEAD, WHOLE_RUN, chunks, listen, sending, serve
from tests.serving.ports import closed_port, full_port

_CROSSED = (
    b'data: {"type":"text.delta","text":"It shipped.","runId":"another","seq":4}\n\n',
    b'data: {"type":"run.start","agentName":"agent","runId":"asked for","seq":0}\n\n',
    b'data: {"type":"run.done","finishReason":"stop","text":"Hello.","runId":"asked for","seq":1}\n\n',
)

Opening = Callable[[Path], AbstractAsyncContextManager[RemoteTarget]]


@dataclass(frozen=True)
class Scenario:
    """A deployment with a problem, opened with a folder for its files; `timer` is the limit that must run out.

    `turns` is the conversation with it, each turn as in a case.
    """

    cause: str
    open: Opening
    place: Place
    outcome: Outcome
    timer: Timer | None = None
    turns: tuple[Json, ...] = ({"prompt": "hello", "must_contain": "Hello"},)

    def __str__(self) -> str:
        return self.open.__name__.strip("_").replace("_", " ")

    @property
    def places(self) -> tuple[Place, ...]:
        """The one place."""
        return (self.place,)

    @property
    def says(self) -> str:
        """The phrase of the outcome."""
        return self.outcome.phrase(self.place.in_turn, render_duration(SHORT_S))


@asynccontextmanager
async def _refused_connection(_: Path) -> AsyncIterator[RemoteTarget]:
    with closed_port() as host:
        yield RemoteTarget(f"http://{host}")


@asynccontextmanager
async def _unknown_name(_: Path) -> AsyncIterator[RemoteTarget]:
    yield RemoteTarget("http://agent.invalid")


@asynccontextmanager
async def _untrusted_certificate(folder: Path) -> AsyncIterator[RemoteTarget]:
    async with listen(sending(*WHOLE_RUN), tls=Authority(folder).certify("127.0.0.1")) as host:
        yield RemoteTarget(f"https://{host}")


@asynccontextmanager
async def _dropped_connection(_: Path) -> AsyncIterator[RemoteTarget]:
    with full_port() as host:
        yield RemoteTarget(f"http://{host}", limits=make_limits("connect_s"))


@asynccontextmanager
async def _no_answer(_: Path) -> AsyncIterator[RemoteTarget]:
    async with listen(sending()) as host:
        yield RemoteTarget(f"http://{host}", limits=make_limits("headers_s"))


@asynccontextmanager
async def _stopped_server(_: Path) -> AsyncIterator[RemoteTarget]:
    with serve({"text": "Let me look.", "fault": {"name": "silence", "after": 3}}) as server:
        yield _StoppedByText(server)


@asynccontextmanager
async def _crossed_stream(_: Path) -> AsyncIterator[RemoteTarget]:
    async with listen(sending(STREAM_HEAD, *chunks(_CROSSED))) as host:
        yield RemoteTarget(f"http://{host}", limits=PATIENT)


@asynccontextmanager
async def _wrong_token(_: Path) -> AsyncIterator[RemoteTarget]:
    with serve(token=TOKEN) as server:
        yield RemoteTarget(server.url, token=f"not-{TOKEN}")


@asynccontextmanager
async def _no_token(_: Path) -> AsyncIterator[RemoteTarget]:
    with serve(token=TOKEN) as server:
        yield RemoteTarget(server.url)


class _StoppedByText(RemoteTarget):
    """A deployment that is stopped as soon as a part of its reply has arrived."""

    def __init__(self, server: FakeServer) -> None:
        super().__init__(server.url)
        self._server = server

    def open_session(self, limit_s: float | None = None, observer: StreamObserver | None = None) -> RemoteSession:
        return super().open_session(limit_s, self)

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        pass

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        if "text.delta" in [event.type for event in events]:
            self._server.stop()


def unreachable(says: str) -> Outcome:
    """Return the outcome of a run whose request reached no deployment in any attempt."""
    return breaks("REMOTE_UNREACHABLE", says, tries=3)


SCENARIOS = (
    Scenario("nobody listens", _refused_connection, CONNECTING, unreachable("could not connect (Connection refused)")),
    Scenario("the host name does not exist", _unknown_name, CONNECTING, unreachable("the host name was not found")),
    Scenario(
        "the certificate is not trusted",
        _untrusted_certificate,
        CONNECTING,
        unreachable("the TLS certificate was not accepted"),
    ),
    Scenario(
        "a firewall drops the connection",
        _dropped_connection,
        CONNECTING,
        unreachable("no connection within {limit}"),
        "connect_s",
    ),
    Scenario(
        "no token is given", _no_token, INSTEAD, refuses("a token is needed and none was sent (401: Unauthorized)")
    ),
    Scenario(REFUSED, _wrong_token, INSTEAD, refuses("the token was refused (401: Unauthorized)")),
    Scenario(
        NO_ANSWER, _no_answer, HEADERS, breaks("REMOTE_TIMEOUT", "no response headers within {limit}"), "headers_s"
    ),
    Scenario(BROKEN, _stopped_server, TEXT, breaks("REMOTE_STREAM", "the connection was closed {at}")),
    Scenario(
        "the stream begins with events of another run",
        _crossed_stream,
        FIRST,
        breaks("REMOTE_STREAM", "two runs came in one stream, and nothing tells which of them is the answer"),
    ),
)
