"""A fake deployment on a real socket, for as long as a `with` block lasts."""

import asyncio
import socket
import threading
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Self

import uvicorn

from fake_server.app import App
from fake_server.requests import RecordedRequest, RequestLog
from fake_server.script import Script
from fake_server.stream import HttpProtocol

_START_TIMEOUT_S = 10.0


class FakeServer:
    """A deployment that answers from `script`, on a free port unless `port` names one.

    It runs in a thread of its own, so that synchronous and asynchronous tests can both use it. Leaving the block stops
    it at once, even while requests stream or hang. `url` stays the same after that; a server that is started again
    listens there again, without its sessions.
    """

    def __init__(self, script: Script, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.token = script.token
        self._script = script
        self._log = RequestLog()
        self._address = (host, port)
        self._uvicorn: _Uvicorn | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL of the deployment, including its path, once it has been started."""
        host, port = self._address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self._script.base_path}"

    @property
    def port(self) -> int:
        """The port it listens on, or will listen on again; 0 before the first start, unless it was given one."""
        return self._address[1]

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request so far, in order."""
        return self._log.all()

    def wait_for_requests(self, count: int, timeout_s: float = 5.0) -> list[RecordedRequest]:
        """Return the requests once there are `count`, or raise `TimeoutError`."""
        return self._log.wait_for(count, timeout_s)

    def start(self) -> None:
        """Start listening; return once requests are answered, or raise `OSError` if the address cannot be used."""
        host, port = self._address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
        # asyncio sets this only for sockets that name their protocol, unlike this one; without it small frames wait
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._address = (host, listener.getsockname()[1])
        self._uvicorn = _Uvicorn(App(self._script, self._log))
        self._thread = threading.Thread(target=self._uvicorn.run_on, args=(listener,), name="fake-server", daemon=True)
        self._thread.start()
        self._uvicorn.ready.result(_START_TIMEOUT_S)

    def stop(self) -> None:
        """Drop every connection and stop listening."""
        if self._uvicorn and self._thread:
            self._uvicorn.stop()
            self._thread.join()
            self._uvicorn = self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


class _Uvicorn(uvicorn.Server):
    """Uvicorn without its delays: it starts and stops at once, and leaves no connection open."""

    def __init__(self, app: App) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=HttpProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",
                server_header=False,
            )
        )
        self.ready: Future[asyncio.AbstractEventLoop] = Future()
        self._stopping = asyncio.Event()

    def run_on(self, listener: socket.socket) -> None:
        """Serve on `listener` until `stop` is called."""
        # `asyncio.run` cancels what still runs when `serve` returns
        asyncio.run(self.serve([listener]))

    def stop(self) -> None:
        """Make the server stop; can be called from any thread."""
        self.ready.result().call_soon_threadsafe(self._stopping.set)

    async def main_loop(self) -> None:
        """Keep the `Date` header current until the server stops."""
        self.ready.set_result(asyncio.get_running_loop())
        while not self._stopping.is_set():
            await self.on_tick(0)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), timeout=1.0)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening and drop every connection."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
