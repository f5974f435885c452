"""The lifespan of an in-process ASGI app: its start and stop, its streams, and its cleanup."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from remote_evals import EvalResult, EvalRunner
from remote_evals.targets import asgi
from tests.serving.deployments import named

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}


def body(more: bool = True, **event: Any) -> Message:
    return {"type": "http.response.body", "body": f"data: {json.dumps(event)}\n\n".encode(), "more_body": more}


DONE = body(more=False, type="run.done", finishReason="stop", text="Hello.")


async def say_hello(request: Request) -> Response:
    event = {"type": "run.done", "finishReason": "stop", "text": getattr(request.state, "word", "Hello.")}
    return Response(f"data: {json.dumps(event)}\n\n", media_type="text/event-stream")


def starlette(events: list[str], state: dict[str, Any] | None = None, error: Exception | None = None) -> Starlette:
    """Return an app that records when it starts and stops, or raises `error` on start."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
        if error:
            raise error
        events.append("start")
        yield state or {}
        events.append("stop")

    return Starlette(routes=[Route("/chat", say_hello, methods=["POST"])], lifespan=lifespan)


def first(agent: Any, **settings: Any) -> EvalResult:
    [result] = EvalRunner(agent=agent, **{"timeout_s": 10, **settings}).run(named("a")).results
    return result


def test_a_shared_app_starts_and_stops_once() -> None:
    """An app that all cases share starts before the first and stops after the last, in every run."""
    events: list[str] = []
    runner = EvalRunner(agent=starlette(events), timeout_s=10)
    for _ in range(2):
        assert runner.run(named("a", "b", "c")).passed == 3
    assert events == ["start", "stop"] * 2


def test_an_app_of_a_factory_lives_as_long_as_its_session() -> None:
    """An app that is made for a case starts and stops with that case."""
    events: list[str] = []
    report = EvalRunner(agent=lambda: starlette(events), concurrency=1, timeout_s=10).run(named("a", "b"))
    assert report.passed == 2
    assert events == ["start", "stop"] * 2


@pytest.mark.parametrize("is_made", [False, True], ids=["shared", "factory"])
def test_what_a_start_prepares_is_there_for_requests(is_made: bool) -> None:
    """The state that an app's lifespan yields is the state of its requests, as with a server."""
    app = starlette([], state={"word": "Prepared."})
    assert first((lambda: app) if is_made else app).output == "Prepared."


@pytest.mark.parametrize("is_made", [False, True], ids=["shared", "factory"])
def test_an_app_that_cannot_start_is_an_error_of_its_cases(is_made: bool) -> None:
    """If an app fails to start, each case is AGENT_FAILED, and says why."""
    app = starlette([], error=LookupError("no database"))
    agent: Any = (lambda: app) if is_made else app
    report = EvalRunner(agent=agent, timeout_s=10).run(named("a", "b"))
    for result in report.results:
        assert (result.status, result.error and result.error.code) == ("error", "AGENT_FAILED")
        assert result.error is not None
        assert "the app did not start: " in result.error.message
        assert "no database" in result.error.message


@pytest.mark.parametrize("leaves", ["raises", "returns"])
def test_an_app_without_a_lifespan_works(leaves: str) -> None:
    """An app that only handles requests, and raises or returns on the lifespan scope, still works."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            assert leaves == "returns"
            return
        await send(HEAD)
        await send(DONE)

    assert first(app).output == "Hello."


def test_text_is_timed_as_it_comes() -> None:
    """The first text is timed when the app sends it, not when the app is done."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        late = asyncio.Event()
        await send(HEAD)
        await send(body(type="text.delta", text="Hello."))
        asyncio.get_running_loop().call_later(0.3, late.set)
        await late.wait()
        await send(DONE)

    timing = first(app).run.timing
    assert timing.first_text_ms is not None
    assert timing.first_text_ms + 200 < timing.total_ms


@pytest.mark.parametrize("sent", [[], [HEAD], [HEAD, body(type="text.delta", text="Hel")]], ids=len)
def test_what_an_app_raises_is_reported(sent: list[Message]) -> None:
    """An app that raises before its headers, after them, or in its stream is an error that says what it raised."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        for message in sent:
            await send(message)
        raise LookupError("no model")

    result = first(app)
    assert (result.status, result.error and result.error.code) == (
        "error", "REMOTE_STREAM" if sent else "REMOTE_STATUS",
    )  # fmt: skip
    assert result.error is not None
    assert "LookupError: no model" in result.error.message
    assert result.output == ("Hel" if len(sent) == 2 else "")


@pytest.mark.parametrize("is_made", [False, True], ids=["shared", "factory"])
@pytest.mark.parametrize("ends_by", ["limit", "cancellation"])
async def test_nothing_of_an_app_is_left(is_made: bool, ends_by: str) -> None:
    """A case that times out, or a run that is cancelled, cancels its app, and leaves no task."""
    events: list[str] = []
    asked = asyncio.Event()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                events.append(event)
                await send({"type": f"lifespan.{event}.complete"})
            return
        try:
            await send(HEAD)
            asked.set()
            await asyncio.Event().wait()
        finally:
            events.append("ended")

    before = asyncio.all_tasks()
    agent: Any = (lambda: app) if is_made else app
    runner = EvalRunner(agent=agent, timeout_s=0.2 if ends_by == "limit" else 0)
    running = asyncio.create_task(runner.arun(named("a")))
    await asyncio.wait_for(asked.wait(), 10)
    if ends_by == "cancellation":
        running.cancel()
    await asyncio.wait([running], timeout=10)
    assert running.cancelled() == (ends_by == "cancellation")
    assert events == ["startup", "ended", "shutdown"]
    assert asyncio.all_tasks() == before


def hanging(at: str) -> Callable[..., Awaitable[None]]:
    """Return an app that answers, and hangs at one point."""
    cancellations = 0

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        nonlocal cancellations
        if scope["type"] == "lifespan":
            await receive()
            if at == "its start":
                await asyncio.get_running_loop().create_future()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            if at == "its stop":
                await asyncio.get_running_loop().create_future()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send(HEAD)
        await send(DONE)
        while at == "a cancellation" and cancellations < 3:
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                cancellations += 1

    return app


@pytest.mark.parametrize(
    ("at", "status"), [("its start", "error"), ("its stop", "passed"), ("a cancellation", "passed")]
)
def test_an_app_that_hangs_is_left_behind(at: str, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app that does not start or stop does not block the run; what it answered counts."""
    monkeypatch.setattr(asgi, "MAX_START_S", 0.2)
    monkeypatch.setattr(asgi, "MAX_STOP_S", 0.2)
    result = first(hanging(at))
    assert result.status == status, result.error
    if result.error:
        assert "the app did not start within 200ms" in result.error.message


@pytest.mark.parametrize("where", ["lifespan", "http"])
def test_an_app_that_exits_ends_only_its_answer(where: str) -> None:
    """`sys.exit()` in an app is an error of its case, and never ends the whole run."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == where:
            raise SystemExit(0)
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})

    result = first(app)
    assert result.status == "error"
    assert result.error is not None
    assert "SystemExit" in result.error.message


@pytest.mark.parametrize(
    "message",
    [DONE, {"type": "http.response.start"}, {"type": "http.response.start", "status": 200, "headers": [(1, 2)]}],
    ids=["a body", "no status", "no headers"],
)
def test_an_app_that_breaks_its_protocol_is_reported(message: Message) -> None:
    """An invalid first message is reported as a problem of the app, not of the eval."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send(message)

    result = first(app)
    assert result.error is not None
    assert result.error.code == "REMOTE_STREAM"
    assert "the app's first message is no sound http.response.start" in result.error.message


async def test_an_app_whose_answer_is_cancellations_is_cancelled() -> None:
    """An app is cancelled once its turn has timed out before the headers."""
    cancelled = asyncio.Event()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "http":
                await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with asyncio.timeout(5):
        await EvalRunner(agent=app, timeout_s=0.2).arun(named("a"))
        await cancelled.wait()
