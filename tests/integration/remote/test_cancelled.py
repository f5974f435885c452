"""A turn that is cancelled, wherever it is: it ends at once, its connection too, and nothing of it is left."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from remote_evals import RemoteTarget
from remote_evals.protocols.events import Event
from remote_evals.transport import client as _retry
from tests.serving.deployments import (
    PATIENT,
    RUN_DONE,
    STREAM_HEAD,
    WHOLE_RUN,
    Connection,
    chunks,
    closing,
    listen,
)
from tests.serving.ports import full_port

FILES = Path("/proc/self/fd")
HALF = b'data: {"type":"text.delta","text":"Half"}\n\n'
HANGING_ERROR = b"HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\n\r\nHalf"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descriptors are counted in /proc")


@dataclass(frozen=True)
class Moment:
    """How far an answer comes before the turn is cancelled: it is seen by the server, or shown to the client's tap.

    `shown` is the type of the event that the tap is shown, "" for the headers.
    """

    parts: tuple[bytes, ...]
    shown: str | None = None


def first_chunk(data: bytes) -> bytes:
    return next(iter(chunks([data])))


MOMENTS = {
    "before the headers": Moment(()),
    "before the first event": Moment((STREAM_HEAD,), shown=""),
    "in the stream": Moment((STREAM_HEAD, first_chunk(HALF)), shown="text.delta"),
    "behind run.done": Moment((STREAM_HEAD, first_chunk(RUN_DONE)), shown="run.done"),
    "in the body of an error": Moment((HANGING_ERROR,), shown=""),
}


@dataclass
class Watch:
    """Notes when a moment has come, and when the client has closed its connection."""

    moment: Moment
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        if self.moment.shown == "":
            self.reached.set()

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        if self.moment.shown in [event.type for event in events]:
            self.reached.set()

    async def answer(self, connection: Connection) -> None:
        """Give the first client the answer up to the moment, and every other one a whole run."""
        if self.reached.is_set():
            await connection.send(WHOLE_RUN)
            return
        await connection.send(self.moment.parts)
        if self.moment.shown is None:
            self.reached.set()
        await connection.gone()
        self.gone.set()


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Expect that the block leaves no task, no descriptor, and nothing that the event loop has to complain of."""
    loop, complaints = asyncio.get_running_loop(), list[dict[str, Any]]()
    before = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    gc.collect()
    tasks, files = asyncio.all_tasks(), count_files()
    yield
    with suppress(TimeoutError):
        async with asyncio.timeout(5):
            # The server has its end of each connection to close.
            while asyncio.all_tasks() != tasks or count_files() > files:  # noqa: ASYNC110
                await asyncio.sleep(0)
    gc.collect()
    loop.set_exception_handler(before)
    assert (asyncio.all_tasks(), complaints) == (tasks, [])
    # Fewer than before when something of an earlier test was collected meanwhile.
    assert count_files() <= files


def count_files() -> int:
    return len(list(FILES.iterdir()))


async def cancel_once(turn: asyncio.Task[Any], reached: asyncio.Event) -> None:
    """Cancel a turn at its moment, and expect that it is cancelled and nothing else."""
    async with asyncio.timeout(10):
        await reached.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
    assert turn.cancelled()


@pytest.mark.parametrize("name", MOMENTS)
async def test_a_cancelled_turn_leaves_nothing(name: str) -> None:
    """It closes its connection before the target is closed, and the target goes on to serve others."""
    watch = Watch(MOMENTS[name])
    async with (
        listen(watch.answer) as host,
        nothing_left(),
        RemoteTarget(f"http://{host}", "right-token-1", limits=PATIENT) as target,
    ):
        async with nothing_left():
            await cancel_once(asyncio.create_task(target.open_session(observer=watch).send("hi", 1)), watch.reached)
            await asyncio.wait_for(watch.gone.wait(), 10)
        async with asyncio.timeout(10), target.open_session() as session:
            assert (await session.send("hi", 1)).reply == "Hello."


async def test_what_had_come_is_still_there() -> None:
    """A session knows what there was of a turn that was cancelled, and its next turn begins anew."""
    watch = Watch(MOMENTS["in the stream"])
    async with (
        listen(watch.answer) as host,
        nothing_left(),
        RemoteTarget(f"http://{host}", limits=PATIENT) as target,
        target.open_session(observer=watch) as session,
    ):
        await cancel_once(asyncio.create_task(session.send("hi", 1)), watch.reached)
        assert session.partial is not None
        assert (session.partial.reply, session.partial.finish_reason) == ("Half", None)
        assert (await session.send("hi", 2)).reply == "Hello."


async def test_a_turn_cancelled_while_it_connects() -> None:
    """A connection that nobody answers is given up."""
    with full_port() as host:
        async with RemoteTarget(f"http://{host}", limits=PATIENT) as target, nothing_left():
            files, connecting = count_files(), asyncio.Event()
            turn = asyncio.create_task(target.open_session().send("hi", 1))
            while count_files() == files:  # noqa: ASYNC110 - a connect that hangs tells nobody
                await asyncio.sleep(0)
            connecting.set()
            await cancel_once(turn, connecting)


async def test_a_turn_cancelled_in_the_handshake() -> None:
    """A TLS handshake that hangs is given up, and the server sees the end of the connection."""
    watch = Watch(Moment(()))
    async with (
        listen(watch.answer, speaks_http=False) as host,
        RemoteTarget(f"https://{host}", limits=PATIENT) as target,
        nothing_left(),
    ):
        await cancel_once(asyncio.create_task(target.open_session().send("hi", 1)), watch.reached)
        await asyncio.wait_for(watch.gone.wait(), 10)


async def test_a_turn_cancelled_in_the_pause_before_a_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is open in the pause, and nothing is sent after it."""
    pausing, asked = asyncio.Event(), list[Connection]()

    def pause(_: object) -> float:
        pausing.set()
        return 100.0

    async def answer(connection: Connection) -> None:
        asked.append(connection)
        await closing(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")(connection)

    monkeypatch.setattr(_retry, "pause", pause)
    async with listen(answer) as host, RemoteTarget(f"http://{host}", limits=PATIENT) as target, nothing_left():
        await cancel_once(asyncio.create_task(target.open_session().send("hi", 1)), pausing)
    assert len(asked) == 1


async def test_a_turn_cancelled_while_its_token_is_fetched() -> None:
    """Whoever fetches the token is cancelled too, and nothing is sent."""
    fetching, given_up, watch = asyncio.Event(), asyncio.Event(), Watch(Moment(()))

    async def fetch_token() -> str:
        fetching.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()
        return "right-token-1"

    async with listen(watch.answer) as host, RemoteTarget(f"http://{host}", fetch_token) as target, nothing_left():
        await cancel_once(asyncio.create_task(target.open_session().send("hi", 1)), fetching)
    assert given_up.is_set()
    assert not watch.reached.is_set()


@pytest.mark.slow
@pytest.mark.parametrize("yields", [0, 1, 2, 3])
async def test_many_turns_cancelled_as_they_start(yields: int) -> None:
    """Turns that wait for others to connect first are cancelled too, and let those after them start."""
    async with listen(closing(*WHOLE_RUN)) as host, nothing_left(), RemoteTarget(f"http://{host}") as target:
        async with nothing_left():
            turns = [asyncio.create_task(target.open_session().send("hi", 1)) for _ in range(20)]
            for _ in range(yields):
                await asyncio.sleep(0)
            for turn in turns:
                turn.cancel()
            ended = await asyncio.gather(*turns, return_exceptions=True)
            assert {type(end) for end in ended} == {asyncio.CancelledError}
        async with asyncio.timeout(10), target.open_session() as session:
            assert (await session.send("hi", 1)).reply == "Hello."
