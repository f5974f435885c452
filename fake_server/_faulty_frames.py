"""The faults of a stream, each a change to the frames that reach the client."""

import asyncio
from collections.abc import AsyncIterator, Callable

from fake_server.faults import Fault

Frames = AsyncIterator[bytes]

RUN_DONE = b'data: {"type":"run.done"'


class ConnectionEnd(Exception):  # noqa: N818 - an order to the sender, not an error
    """Ends the connection in the middle of the stream, with a TCP reset if `by_reset`."""

    def __init__(self, *, by_reset: bool) -> None:
        super().__init__(by_reset)
        self.by_reset = by_reset


def with_fault(frames: Frames, fault: Fault | None) -> Frames:
    """Return `frames` as `fault` lets them through; it may raise `ConnectionEnd`."""
    change = _CHANGES.get(fault.name) if fault else None
    return change(frames, fault) if change and fault else frames


async def _first(frames: Frames, count: int) -> Frames:
    for _ in range(count):
        try:
            yield await anext(frames)
        except StopAsyncIteration:
            return


async def _silence(frames: Frames, fault: Fault) -> Frames:
    async for frame in _first(frames, fault.after):
        yield frame
    await asyncio.sleep(fault.for_s)
    async for frame in frames:
        yield frame


async def _keep_alives(frames: Frames, fault: Fault) -> Frames:
    async for frame in _first(frames, fault.after):
        yield frame
    loop = asyncio.get_running_loop()
    end_s = loop.time() + fault.for_s
    while loop.time() < end_s:
        yield b": keep-alive\n\n"
        await asyncio.sleep(fault.every)
    async for frame in frames:
        yield frame


async def _cut(frames: Frames, fault: Fault) -> Frames:
    async for frame in _first(frames, fault.after):
        yield frame
    raise ConnectionEnd(by_reset=False)


async def _reset(frames: Frames, fault: Fault) -> Frames:
    async for frame in _first(frames, fault.after):
        yield frame
    raise ConnectionEnd(by_reset=True)


async def _not_json(frames: Frames, fault: Fault) -> Frames:
    async for frame in _first(frames, fault.after):
        yield frame
    yield b'data: {"type": this is not JSON\n\n'
    async for frame in frames:
        yield frame


async def _half_frame(frames: Frames, fault: Fault) -> Frames:
    async for frame in _first(frames, fault.after):
        yield frame
    async for frame in _first(frames, 1):
        yield frame[: len(frame) // 2]


async def _no_run_done(frames: Frames, _: Fault) -> Frames:
    while not (frame := await anext(frames)).startswith(RUN_DONE):
        yield frame


async def _byte_at_a_time(frames: Frames, _: Fault) -> Frames:
    async for frame in frames:
        for start in range(len(frame)):
            yield frame[start : start + 1]


_CHANGES: dict[str, Callable[[Frames, Fault], Frames]] = {
    "silence": _silence,
    "keep-alives": _keep_alives,
    "cut": _cut,
    "reset": _reset,
    "not-json": _not_json,
    "half-frame": _half_frame,
    "no-run-done": _no_run_done,
    "byte-at-a-time": _byte_at_a_time,
}
