"""Every wait of a session has an end: retries, transcripts and the fetching of a token are within the limits too."""

import asyncio
import time
from typing import Any

import pytest

from remote_evals import (
    Limits,
    RemoteStatusError,
    RemoteStreamError,
    RemoteTarget,
    RemoteTimeoutError,
    RemoteUnauthorizedError,
    TokenSourceError,
)
from remote_evals.targets import exchange as _exchange
from remote_evals.transport import client as _retry
from tests.serving.deployments import PATIENT, WHOLE_RUN, Connection, chunks, closing, listen, sending

TRANSCRIPT_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"


async def test_all_attempts_at_a_turn_share_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that is turned away is not waited for beyond the time that a turn has."""
    monkeypatch.setattr(_retry, "pause", lambda _: 5.0)
    started = time.perf_counter()
    async with (
        listen(closing(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n")) as host,
        RemoteTarget(f"http://{host}", limits=Limits(turn_s=2)) as target,
        target.open_session() as session,
    ):
        with pytest.raises(RemoteStatusError, match="503"):
            await session.send("hi", 1)
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("limits", "clock", "happened"),
    [
        ({"headers_s": 0.2}, "transcript", "no whole transcript within 200ms after the headers"),
        ({"headers_s": float("inf"), "turn_s": 0.2}, "turn", "the turn was not done within 200ms"),
    ],
    ids=["its own", "the turn's"],
)
async def test_a_transcript_that_never_ends_is_given_up(limits: dict[str, float], clock: str, happened: str) -> None:
    """A transcript whose body drips and drips ends by a limit, which the message names rightly."""

    async def drip(connection: Connection) -> None:
        await connection.send([TRANSCRIPT_HEAD])
        while True:
            await connection.send([b"1\r\n \r\n"])
            await asyncio.sleep(0.01)

    async with (
        listen(drip) as host,
        RemoteTarget(f"http://{host}", limits=Limits(**limits)) as target,
        target.open_session() as session,
    ):
        with pytest.raises(RemoteTimeoutError) as caught:
            await session.transcript()
    assert caught.value.clock == clock
    assert happened in caught.value.happened


async def test_a_token_that_never_comes_is_given_up() -> None:
    """A callable that does not return is told as what the token came from, and nothing is sent."""

    async def never() -> str:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    target = RemoteTarget("http://127.0.0.1:1", token=never, limits=Limits(headers_s=0.1))
    async with target, target.open_session() as session:
        with pytest.raises(TokenSourceError, match="its callable gave none within 100ms"):
            await session.send("hi", 1)


async def test_a_read_is_not_sent_again_by_the_library() -> None:
    """A transcript whose connection breaks is asked for once: nothing below this package tries again on its own."""
    asked: list[str] = []

    async def answer(connection: Connection) -> None:
        asked.append(connection.request_line)

    async with (
        listen(answer) as host,
        RemoteTarget(f"http://{host}", limits=PATIENT) as target,
        target.open_session() as session,
    ):
        with pytest.raises(RemoteStreamError, match="closed before the answer was whole"):
            await session.transcript()
    assert len(asked) == 1


async def test_a_transcript_asks_for_no_compression() -> None:
    """What would be refused is not asked for."""
    seen: list[str | None] = []

    async def answer(connection: Connection) -> None:
        seen.append(connection.header("Accept-Encoding"))
        body = b'{"messages": []}'
        await connection.send([TRANSCRIPT_HEAD, b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        assert await session.transcript() == []
    assert seen == ["identity"]


SLOW_503 = b"HTTP/1.1 503 Timeout\r\ncontent-length: 0\r\n\r\n"


async def test_a_503_that_comes_late_is_not_taken_for_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that gives up on an agent answers 503 as well, but not at once: that turn is not sent again."""
    monkeypatch.setattr(_exchange, "SOON_S", 0.1)
    asked: list[Any] = []

    async def answer(connection: Connection) -> None:
        asked.append(connection.body)
        await asyncio.sleep(0.15)
        await connection.send([SLOW_503])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        with pytest.raises(RemoteStatusError, match="503"):
            await session.send("hi", 1)
    assert len(asked) == 1


async def test_a_503_in_whose_stream_the_agent_speaks_is_no_refusal() -> None:
    """A status that means "not now" over a stream of events is none that may be sent again."""
    asked: list[Any] = []
    head = b"HTTP/1.1 503 No\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

    async def answer(connection: Connection) -> None:
        asked.append(connection.body)
        await connection.send([head, *chunks([b'data: {"type":"tool.start","toolName":"refund"}\n\n'])])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        with pytest.raises(RemoteStatusError, match="503"):
            await session.send("hi", 1)
    assert len(asked) == 1


async def test_a_refused_token_is_not_sent_again_by_a_session_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a token was refused, no other turn against that deployment knocks with it, not even one that was waiting."""
    asked: list[str] = []

    async def answer(connection: Connection) -> None:
        asked.append(connection.body["input"])
        if connection.body["input"] == "early":
            await connection.send([b"HTTP/1.1 429 Wait\r\ncontent-length: 0\r\n\r\n"])
        else:
            await connection.send([b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n"])

    monkeypatch.setattr(_retry, "pause", lambda _: 0.5)
    async with (
        listen(answer) as host,
        RemoteTarget(f"http://{host}", token="wrong-token-2") as target,
        target.open_session() as early,
        target.open_session() as late,
    ):
        waiting = asyncio.create_task(early.send("early", 1))
        while not asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        with pytest.raises(RemoteUnauthorizedError, match="the token was refused"):
            await late.send("late", 1)
        with pytest.raises(RemoteUnauthorizedError, match="was refused before, so nothing was sent"):
            await waiting
        with pytest.raises(RemoteUnauthorizedError, match="was refused before, so nothing was sent"):
            await late.send("again", 2)
    assert asked == ["early", "late"]


IDS = ["", ".", "..", "\ud83d", "a" * 70_000]


@pytest.mark.parametrize("approval_id", IDS, ids=lambda text: repr(text[:5]))
async def test_an_approval_id_that_leads_elsewhere_is_not_sent(approval_id: str) -> None:
    """An id that no path can hold, or that changes the path, is the deployment's mistake, and the token stays here."""
    async with (
        listen(sending(*WHOLE_RUN)) as host,
        RemoteTarget(f"http://{host}", limits=PATIENT) as target,
        target.open_session() as session,
    ):
        await session.send("hi", 1)
        with pytest.raises(RemoteStreamError, match=r"the approval's id .* cannot be sent back") as caught:
            await session.decide(approval_id, {"approved": True})
    assert len(str(caught.value)) < 300
