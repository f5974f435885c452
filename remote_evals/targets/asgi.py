"""An ASGI app as a transport: requests are answered as over a socket, piece by piece.

Source of its start and stop: https://asgi.readthedocs.io/en/latest/specs/lifespan.html.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, MutableMapping
from contextlib import suppress
from typing import Any, Self

import httpx

from ..core.durations import render_duration
from ..transport.failures import AppBrokeError

Message = MutableMapping[str, Any]

MAX_START_S = 60.0
# An app that hangs longer is abandoned: the results must be reported.
MAX_STOP_S = 5.0


class AsgiTransport(httpx.AsyncBaseTransport):
    """Lets an app answer the requests; it starts and stops with the transport. An app that raises answers with 500."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._lifespan = Lifespan(app)
        self._answers: set[asyncio.Task[BaseException | None]] = set()

    async def __aenter__(self) -> Self:
        """Start the app. Raises `RuntimeError` if that fails."""
        await self._lifespan.start()
        return self

    async def aclose(self) -> None:
        """Cancel the answers under way, and stop the app."""
        await give_up(self._answers)
        await self._lifespan.stop()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer once its headers are there; its body follows as the app sends it."""
        body = await request.aread()
        messages: asyncio.Queue[Message | None] = asyncio.Queue()
        answer = asyncio.create_task(_run(self._app, _make_scope(request, self._lifespan.state), body, messages))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)
        try:
            start = await messages.get()
        except asyncio.CancelledError:
            answer.cancel()
            raise
        if start is None:
            return httpx.Response(500, text=_describe(answer), request=request)
        return _open_answer(start, _Body(messages, answer))


def _open_answer(start: Message, body: "_Body") -> httpx.Response:
    """Return the answer that a first message starts. Raises `AppBrokeError` if it starts none."""
    try:
        return httpx.Response(start["status"], headers=start.get("headers", []), stream=body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise AppBrokeError(f"the app's first message is no sound http.response.start ({what})") from None


class _Body(httpx.AsyncByteStream):
    def __init__(self, messages: "asyncio.Queue[Message | None]", answer: "asyncio.Task[BaseException | None]") -> None:
        self._messages = messages
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._messages.get()) is not None:
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                return
        raise AppBrokeError(_describe(self._answer))

    async def aclose(self) -> None:
        await give_up([self._answer])


async def _run(
    app: Any, scope: Message, body: bytes, messages: "asyncio.Queue[Message | None]"
) -> BaseException | None:
    """Let the app answer and return what it raised: a task that raises `SystemExit` would end the event loop."""
    requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if requests:
            return requests.pop()
        await asyncio.get_running_loop().create_future()  # the client stays connected until the body is closed
        raise AssertionError

    async def send(message: Message) -> None:
        messages.put_nowait(message)

    try:
        await app(scope, receive, send)
    except (Exception, SystemExit) as error:
        return error
    finally:
        messages.put_nowait(None)
    return None


def _make_scope(request: httpx.Request, state: Message) -> Message:
    return {
        "type": "http",
        "state": dict(state),
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 0),
        "server": (request.url.host, request.url.port),
    }


def _describe(answer: "asyncio.Task[BaseException | None]") -> str:
    """Return what a finished app raised, in words."""
    error = answer.result() if answer.done() and not answer.cancelled() else None
    return f"the app raised {type(error).__name__}: {error}" if error else "the app answered nothing"


class Lifespan:
    """Starts and stops an app; one that does not support lifespan is left alone."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._told: asyncio.Queue[Message] = asyncio.Queue()
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self.state: dict[str, Any] = {}
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Wait until the app has started. Raises `RuntimeError` if it fails to, or does not start in time."""
        self._running = asyncio.create_task(self._run())
        self._told.put_nowait({"type": "lifespan.startup"})
        try:
            async with asyncio.timeout(MAX_START_S):
                said = await self._said.get()
        except TimeoutError:
            self._running.cancel()
            raise RuntimeError(f"the app did not start within {render_duration(MAX_START_S)}") from None
        if said["type"] == "lifespan.startup.failed":
            self._running.cancel()
            raise RuntimeError(f"the app did not start: {said.get('message') or 'it does not say why'}")

    async def stop(self) -> None:
        """Wait until the app has stopped, for 5 seconds at most."""
        if self._running and not self._running.done():
            self._told.put_nowait({"type": "lifespan.shutdown"})
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_STOP_S):
                    await self._said.get()
            await give_up([self._running])

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self.state}
        try:
            await self._app(scope, self._told.get, self._said.put)
        except SystemExit as error:
            # A task that raises it would end the event loop.
            await self._said.put({"type": "lifespan.startup.failed", "message": f"it raised SystemExit: {error}"})
        except Exception:  # noqa: S110 - by the specification, an app that raises here has no lifespan
            pass
        await self._said.put({"type": "ended"})


async def give_up(tasks: Collection["asyncio.Task[Any]"]) -> None:
    """Cancel tasks and wait until they end, for 5 seconds at most: an app may refuse to."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=MAX_STOP_S)
