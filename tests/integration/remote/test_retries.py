"""How a request is sent again that the deployment cannot have begun on."""

import asyncio
import time
from typing import Any

import pytest
from tenacity import AsyncRetrying, RetryCallState

from fake_server import FakeServer
from remote_evals import EvalRunner, Limits, RemoteStatusError, RemoteTarget, RemoteUnreachableError, UsageError
from remote_evals.transport import client as _retry
from tests.serving.deployments import PATIENT, WHOLE_RUN, closing, fail_among_others, listen, named, serve


async def run_one(server: FakeServer, timeout_s: float = 30, **target: Any) -> Any:
    """Run one case against a deployment and return its row."""
    report = await EvalRunner(RemoteTarget(server.url, **target), timeout_s=timeout_s).arun(named("a"))
    return report.results[0]


async def test_a_deployment_that_starts_meanwhile_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is tried again, so that the moment of a restart makes no case red."""
    server = serve()
    server.start()
    server.stop()

    def start(_: object) -> float:
        server.start()
        return 0.0

    monkeypatch.setattr(_retry, "pause", start)
    try:
        row = await run_one(server)
    finally:
        server.stop()
    assert (row.status, row.run.retries, row.run.reply) == ("passed", 1, "Hello.")


async def test_waiting_is_not_in_the_time_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Latency is that of the attempt that worked: neither the pauses nor what was turned away are in it."""
    monkeypatch.setattr(_retry, "pause", lambda _: 0.4)
    answers = iter([b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"] * 2)
    started = time.perf_counter()

    async def answer(connection: Any) -> None:
        turned_away = next(answers, None)
        if turned_away:
            await asyncio.sleep(0.2)
        await connection.send([turned_away] if turned_away else WHOLE_RUN)

    async with listen(answer) as host:
        report = await EvalRunner(RemoteTarget(f"http://{host}"), timeout_s=30).arun(named("a"))
    [row] = report.results
    wall_ms = (time.perf_counter() - started) * 1000
    assert (row.status, row.run.retries) == ("passed", 2)
    assert wall_ms - row.duration_ms > 1200
    moments = [row.run.timing.headers_ms, row.run.timing.first_event_ms, row.run.timing.total_ms]
    assert moments == sorted(moment for moment in moments if moment is not None)


@pytest.mark.parametrize("after", [0, "0", "Thu, 01 Jan 1970 00:00:00 GMT"], ids=repr)
@pytest.mark.parametrize("fault", ["rate-limited", "unavailable"])
async def test_a_deployment_says_when_to_come_back(after: Any, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry-After is taken for the pause, be it in seconds or a date; this one is over at once."""
    monkeypatch.setattr(_retry, "pause", lambda _: 3600.0)
    with serve({"text": "Hello.", "fault": {"name": fault, "times": 1, "retry_after": after}}) as server:
        assert (await run_one(server)).status == "passed"


@pytest.mark.parametrize("after", [3600, "Fri, 01 Jan 2999 00:00:00 GMT", "1"], ids=repr)
async def test_a_wait_beyond_the_case_s_time_is_not_begun(after: Any) -> None:
    """Where the wait would take all of the time that is left, the error is told at once: the 429, and no timeout."""
    started = time.perf_counter()
    with serve({"text": "Hello.", "fault": {"name": "rate-limited", "retry_after": after}}) as server:
        row = await run_one(server, timeout_s=0.9)
        assert len(server.requests) == 1
    assert time.perf_counter() - started < 0.9
    assert row.error.code == "REMOTE_STATUS"


async def test_no_retries() -> None:
    """`retries=0` sends everything once."""
    with serve({"text": "Hello.", "fault": "unavailable"}) as server:
        row = await run_one(server, retries=0)
        assert len(server.requests) == 1
    assert "attempts" not in row.error.message


def test_fewer_than_no_retries_are_refused() -> None:
    """A negative number is a mistake of the caller."""
    with pytest.raises((UsageError, ValueError), match="retries"):
        RemoteTarget("http://127.0.0.1:1", retries=-1)


@pytest.mark.parametrize("url", ["http://agent.invalid", "https://{host}"], ids=["no such name", "no TLS there"])
async def test_what_never_connected_is_tried_again_and_counted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is not found and a handshake that fails take three attempts, and the message says so."""
    monkeypatch.setattr(_retry, "pause", lambda _: 0.0)
    async with listen(closing(b"HTTP/1.1 400 Bad Request\r\n\r\n"), speaks_http=False) as host:
        failure = await fail_among_others(url.format(host=host), retries=2, limits=PATIENT)
    assert type(failure.error) is RemoteUnreachableError
    assert failure.error.happened.endswith(" (3 attempts)")
    assert failure.row.run.retries == 2


async def test_the_last_attempt_is_the_one_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment that turns a request away and then fails on it is not asked a third time."""
    monkeypatch.setattr(_retry, "pause", lambda _: 0.0)
    faults = [{"name": "unavailable", "times": 1}, "server-error"]
    with serve({"text": "Hello.", "fault": faults}) as server:
        row = await run_one(server, limits=Limits())
        assert len(server.requests) == 2
    assert "the answer was 500" in row.error.message
    assert "(2 attempts)" in row.error.message


async def test_a_transcript_is_asked_for_once_more_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a transcript changes nothing, so what turns it away is tried again as a turn is."""
    monkeypatch.setattr(_retry, "pause", lambda _: 0.0)
    answers = iter([b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n", TRANSCRIPT])

    async def answer(connection: Any) -> None:
        await connection.send([next(answers)])

    async with listen(answer) as host, RemoteTarget(f"http://{host}") as target, target.open_session() as session:
        assert await session.transcript() == [{"role": "user", "content": "hi"}]


async def test_attempts_at_a_transcript_are_counted_as_those_of_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of a transcript says how often it was asked for."""
    monkeypatch.setattr(_retry, "pause", lambda _: 0.0)
    async with (
        listen(closing(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n")) as host,
        RemoteTarget(f"http://{host}") as target,
        target.open_session() as session,
    ):
        with pytest.raises(RemoteStatusError, match=r"the answer was 503 \(3 attempts\)\."):
            await session.transcript()


@pytest.mark.parametrize(("attempt", "least", "most"), [(1, 0.5, 1.0), (2, 1.0, 1.5), (3, 2.0, 2.5), (9, 8.0, 8.5)])
def test_pauses_double_and_vary(attempt: int, least: float, most: float) -> None:
    """A pause is half a second, then twice as long each time up to eight, and a random part of half a second more."""
    state = RetryCallState(AsyncRetrying(), None, (), {})
    state.attempt_number = attempt
    pauses = {_retry.pause(state) for _ in range(50)}
    assert least <= min(pauses) < max(pauses) <= most


BODY = b'{"messages": [{"role": "user", "content": "hi"}]}'
TRANSCRIPT = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
