"""The start and the stop of an ASGI app: https://asgi.readthedocs.io/en/latest/specs/lifespan.html."""

import asyncio
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

Message = MutableMapping[str, Any]


class Lifespan:
    """Tells an app when it starts and stops; an app that knows no lifespan is left alone."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._told: asyncio.Queue[Message] = asyncio.Queue()
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self.state: dict[str, Any] = {}
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Wait until the app has started. Raises `RuntimeError` when it says that it could not."""
        self._running = asyncio.create_task(self._run())
        self._told.put_nowait({"type": "lifespan.startup"})
        said = await self._said.get()
        if said["type"] == "lifespan.startup.failed":
            self._running.cancel()
            raise RuntimeError(f"the app did not start: {said.get('message') or 'it does not say why'}")

    async def stop(self) -> None:
        """Wait until the app has stopped."""
        if self._running and not self._running.done():
            self._told.put_nowait({"type": "lifespan.shutdown"})
            await self._said.get()
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self.state}
        # By its specification, an app that raises here has no lifespan.
        with suppress(Exception):
            await self._app(scope, self._told.get, self._said.put)
        await self._said.put({"type": "ended"})
