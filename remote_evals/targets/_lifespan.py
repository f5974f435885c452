"""The start and the stop of an ASGI app: https://asgi.readthedocs.io/en/latest/specs/lifespan.html."""

import asyncio
from collections.abc import Collection, MutableMapping
from contextlib import suppress
from typing import Any

from ..core.durations import render_duration

Message = MutableMapping[str, Any]

MAX_START_S = 60.0
# An app that hangs then is left behind: what is done must be reported.
MAX_STOP_S = 5.0


class Lifespan:
    """Tells an app when it starts and stops; an app that knows no lifespan is left alone."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._told: asyncio.Queue[Message] = asyncio.Queue()
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self.state: dict[str, Any] = {}
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Wait until the app has started. Raises `RuntimeError` when it says that it could not, or does not say."""
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
            # A task that raises it would end the whole loop.
            await self._said.put({"type": "lifespan.startup.failed", "message": f"it raised SystemExit: {error}"})
        except Exception:  # noqa: S110 - by the specification, an app that raises here has no lifespan
            pass
        await self._said.put({"type": "ended"})


async def give_up(tasks: Collection["asyncio.Task[Any]"]) -> None:
    """Cancel tasks, and wait until they have ended, for 5 seconds at most: an app may refuse to."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=MAX_STOP_S)
