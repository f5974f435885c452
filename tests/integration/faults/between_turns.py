"""The rows of the fault matrix for what happens between the first turn of a conversation and the second."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fake_server import FakeServer
from remote_evals import RemoteTarget, RunResult
from remote_evals.core.prompts import Prompt
from remote_evals.targets.session import RemoteSession
from remote_evals.targets.stream_reader import StreamObserver
from tests.integration.faults.matrix import BETWEEN, TOKEN, Json, Outcome, fails, passes, refuses
from tests.integration.faults.network import Opening, Scenario, unreachable
from tests.serving.deployments import PATIENT, serve

FIRST_REPLY = "Hello, Ada."
_TURNS: tuple[Json, ...] = (
    {"prompt": "I am Ada.", "must_contain": "Hello"},
    {"prompt": "Who am I?", "must_contain": "You are Ada"},
)
_STARTING = {"when": {"input": "I am"}, "text": FIRST_REPLY}
_GOING_ON = {"when": {"turn": 2}, "text": "You are Ada."}
_FORGETFUL = {"text": "Who knows?"}
_KNOWING = {"text": "You are Ada."}


@asynccontextmanager
async def _stopped_between_turns(_: Path) -> AsyncIterator[RemoteTarget]:
    with serve(_STARTING, _GOING_ON) as server:
        yield _InterruptedTarget(server, server.stop)


@asynccontextmanager
async def _restarted_between_turns(_: Path) -> AsyncIterator[RemoteTarget]:
    with serve(_STARTING, _KNOWING) as server:
        yield _InterruptedTarget(server, lambda: _restart(server))


@asynccontextmanager
async def _restarted_and_forgetful(_: Path) -> AsyncIterator[RemoteTarget]:
    with serve(_STARTING, _GOING_ON, _FORGETFUL) as server:
        yield _InterruptedTarget(server, lambda: _restart(server))


@asynccontextmanager
async def _token_expired_between_turns(_: Path) -> AsyncIterator[RemoteTarget]:
    # A client that retried would be accepted, and pass.
    with serve(_STARTING, {**_GOING_ON, "fault": {"name": "unauthorized", "times": 1}}) as server:
        yield RemoteTarget(server.url, TOKEN, limits=PATIENT)


def _restart(server: FakeServer) -> None:
    server.stop()
    server.start()


class _InterruptedTarget(RemoteTarget):
    """A deployment to which something happens just before the second turn."""

    def __init__(self, server: FakeServer, interrupt: Callable[[], None]) -> None:
        super().__init__(server.url, limits=PATIENT)
        self._interrupt = interrupt

    def open_session(self, limit_s: float | None = None, observer: StreamObserver | None = None) -> RemoteSession:
        return _Session(self._interrupt, self._opened, limit_s, observer)


class _Session(RemoteSession):
    def __init__(self, interrupt: Callable[[], None], *session: Any) -> None:
        super().__init__(*session)
        self._interrupt = interrupt

    async def send(self, prompt: Prompt, turn: int) -> RunResult:
        if turn == 2:
            self._interrupt()
        return await super().send(prompt, turn)


def _between(cause: str, opening: Opening, outcome: Outcome) -> Scenario:
    return Scenario(cause, opening, BETWEEN, outcome, turns=_TURNS)


BETWEEN_TURNS = (
    _between(
        "the deployment is stopped", _stopped_between_turns, unreachable("could not connect (Connection refused)")
    ),
    _between("the deployment is restarted, and its agent needs no memory", _restarted_between_turns, passes()),
    _between(
        "the deployment is restarted, and its agent has forgotten the conversation",
        _restarted_and_forgetful,
        fails('the reply was "Who knows?"'),
    ),
    _between("the token expires", _token_expired_between_turns, refuses("the token was refused (401: Unauthorized)")),
)
