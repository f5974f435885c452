"""Faults on the way, which know nothing of what is sent: late, broken off, or in another shape."""

import asyncio
import zlib
from collections.abc import Callable

from fake_server._frames import ConnectionEnd, Frames, first, late
from fake_server.faults import Fault

_GZIP = 16 + zlib.MAX_WBITS


@late
async def _silence(frames: Frames, fault: Fault) -> Frames:
    await asyncio.sleep(fault.for_s)
    async for frame in frames:
        yield frame


async def _break_off(frames: Frames, fault: Fault) -> Frames:
    async for frame in first(frames, fault.after):
        yield frame
    raise ConnectionEnd(by_reset=fault.name == "reset")


@late
async def _half_frame(frames: Frames, fault: Fault) -> Frames:
    async for frame in first(frames, 1):
        yield frame[: len(frame) // 2]


async def _byte_at_a_time(frames: Frames, _: Fault) -> Frames:
    async for frame in frames:
        for start in range(len(frame)):
            yield frame[start : start + 1]


async def _slow(frames: Frames, fault: Fault) -> Frames:
    async for frame in frames:
        await asyncio.sleep(fault.every)
        yield frame


async def _buffered(frames: Frames, _: Fault) -> Frames:
    yield b"".join([frame async for frame in frames])


async def _compressed(frames: Frames, _: Fault) -> Frames:
    gzip = zlib.compressobj(wbits=_GZIP)
    async for frame in frames:
        # flushed, so that each frame can be read as soon as it is there
        yield gzip.compress(frame) + gzip.flush(zlib.Z_SYNC_FLUSH)
    yield gzip.flush()


BODY_CHANGES: dict[str, Callable[[Frames, Fault], Frames]] = {
    "silence": _silence,
    "cut": _break_off,
    "reset": _break_off,
    "half-frame": _half_frame,
    "byte-at-a-time": _byte_at_a_time,
    "slow": _slow,
    "buffered": _buffered,
    "compressed": _compressed,
}
