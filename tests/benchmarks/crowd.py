"""Many streams at once: `python -m tests.benchmarks.crowd WAY STREAMS URL ANSWER` prints the figures.

`block_s` is the longest time that the event loop was blocked. `kib_per_stream` is how much this process had grown when
the first stream ended; if the server holds all streams until the last one has started, all are open at that moment.
"""

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from remote_evals import RemoteTarget

from .processes import Figures, allow_many_files, resident_bytes
from .transfers import plain_client, read_sse

Read = Callable[[], Awaitable[str]]

_TICK_S = 0.01


@asynccontextmanager
async def _plain(url: str) -> AsyncIterator[Read]:
    async with plain_client() as client:
        yield lambda: read_sse(client, f"{url}/chat")


@asynccontextmanager
async def _remote(url: str) -> AsyncIterator[Read]:
    async with RemoteTarget(url, token="token-of-the-benchmark") as target:

        async def read() -> str:
            async with target.open_session() as session:
                return (await session.send("Tell me a little.", 1)).reply

        yield read


class Crowd:
    """Reads many streams at once, and measures the event loop and the memory meanwhile."""

    def __init__(self, read: Read, streams: int, expected: str) -> None:
        self._read = read
        self._streams = streams
        self._expected = expected
        self._ended = self._errors = 0
        self._block_s = 0.0
        self._peak_bytes = 0

    async def run(self) -> Figures:
        """Return the figures once every stream has ended."""
        gc.collect()
        before = resident_bytes()
        ticking = asyncio.create_task(self._tick())
        started = time.perf_counter()
        await asyncio.gather(*(self._read_one() for _ in range(self._streams)))
        seconds = time.perf_counter() - started
        ticking.cancel()
        return {
            "seconds": seconds,
            "errors": self._errors,
            "block_s": self._block_s,
            "kib_per_stream": (self._peak_bytes - before) / 1024 / self._streams,
        }

    async def _read_one(self) -> None:
        try:
            self._errors += await self._read() != self._expected
        except Exception as error:  # errors of any kind are counted
            print(repr(error), file=sys.stderr)
            self._errors += 1
        self._ended += 1

    async def _tick(self) -> None:
        while True:
            asleep = time.perf_counter()
            await asyncio.sleep(_TICK_S)
            self._block_s = max(self._block_s, time.perf_counter() - asleep - _TICK_S)
            if not self._ended:
                self._peak_bytes = max(self._peak_bytes, resident_bytes())


async def _measure(way: str, streams: int, url: str, answer: str) -> Figures:
    open_reader = {"plain": _plain, "remote": _remote}[way]
    async with open_reader(f"{url}/held/1") as read:
        expected = await read()  # warms up, and gives the text that each stream must have
    async with open_reader(f"{url}/{answer}") as read:
        return await Crowd(read, streams, expected).run()


if __name__ == "__main__":
    allow_many_files()
    print(json.dumps(asyncio.run(_measure(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]))))
