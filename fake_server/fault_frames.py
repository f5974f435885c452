"""Faults of a stream, each a change to the frames that reach the client.

The faults of bodies know nothing of what is sent: it comes late, breaks off, or has another shape. The faults of frames
add one, leave one out, or make one that is not an event.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import TypeVar

from fake_server.events import DONE_FRAME
from fake_server.faults import Fault

T = TypeVar("T")

Frames = AsyncIterator[bytes]

_RUN_DONE = b'data: {"type":"run.done"'
_TEXT_DELTA = b'data: {"type":"text.delta"'
_LATIN_1_E_ACUTE = b"\xe9"
_PIECE_BYTES = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS


class ConnectionEnd(Exception):  # noqa: N818 - an order to the sender, not an error
    """Ends the connection in the middle of the stream, with a TCP reset if `by_reset`."""

    def __init__(self, *, by_reset: bool) -> None:
        super().__init__(by_reset)
        self.by_reset = by_reset


async def take_first(items: AsyncIterator[T], count: int) -> AsyncIterator[T]:
    """Yield `count` items, or all if there are fewer, and leave the rest in `items`."""
    for _ in range(count):
        try:
            yield await anext(items)
        except StopAsyncIteration:
            return


def after_first(
    change: Callable[[AsyncIterator[T], Fault], AsyncIterator[T]],
) -> Callable[[AsyncIterator[T], Fault], AsyncIterator[T]]:
    """Return `change` for the items after the first `fault.after` ones, which pass unchanged."""

    @wraps(change)
    async def change_rest(items: AsyncIterator[T], fault: Fault) -> AsyncIterator[T]:
        async for item in take_first(items, fault.after):
            yield item
        async for item in change(items, fault):
            yield item

    return change_rest


@after_first
async def _silence(frames: Frames, fault: Fault) -> Frames:
    await asyncio.sleep(fault.for_s)
    async for frame in frames:
        yield frame


async def _break_off(frames: Frames, fault: Fault) -> Frames:
    async for frame in take_first(frames, fault.after):
        yield frame
    raise ConnectionEnd(by_reset=fault.name == "reset")


@after_first
async def _half_frame(frames: Frames, fault: Fault) -> Frames:
    async for frame in take_first(frames, 1):
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
        # flushed, so that each frame can be read as soon as it arrives
        yield gzip.compress(frame) + gzip.flush(zlib.Z_SYNC_FLUSH)
    yield gzip.flush()


@after_first
async def _keep_alives(frames: Frames, fault: Fault) -> Frames:
    loop = asyncio.get_running_loop()
    end_s = loop.time() + fault.for_s
    while loop.time() < end_s:
        yield b": keep-alive\n\n"
        await asyncio.sleep(fault.every)
    async for frame in frames:
        yield frame


@after_first
async def _not_json(frames: Frames, fault: Fault) -> Frames:
    yield b'data: {"type": this is not JSON\n\n'
    async for frame in frames:
        yield frame


@after_first
async def _invalid_utf8(frames: Frames, fault: Fault) -> Frames:
    async for frame in frames:
        if frame.startswith(_TEXT_DELTA):
            yield frame.replace(b'"text":"', b'"text":"' + _LATIN_1_E_ACUTE, 1)
            break
        yield frame
    async for frame in frames:
        yield frame


@after_first
async def _huge_frame(frames: Frames, fault: Fault) -> Frames:
    async for frame in take_first(frames, 1):
        start, end = frame.removesuffix(b"}\n\n") + b',"padding":"', b'"}\n\n'
        yield start
        left = fault.size - len(start) - len(end)
        while left > 0:
            yield b"x" * min(left, _PIECE_BYTES)
            left -= _PIECE_BYTES
        yield end
    async for frame in frames:
        yield frame


async def _no_run_done(frames: Frames, _: Fault) -> Frames:
    while not (frame := await anext(frames)).startswith(_RUN_DONE):
        yield frame


async def _no_done(frames: Frames, _: Fault) -> Frames:
    async for frame in frames:
        if frame != DONE_FRAME:
            yield frame


async def _no_last_blank_line(frames: Frames, _: Fault) -> Frames:
    while not (frame := await anext(frames)).startswith(_RUN_DONE):
        yield frame
    yield frame.removesuffix(b"\n")


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

FRAME_CHANGES: dict[str, Callable[[Frames, Fault], Frames]] = {
    "keep-alives": _keep_alives,
    "not-json": _not_json,
    "invalid-utf8": _invalid_utf8,
    "huge-frame": _huge_frame,
    "no-run-done": _no_run_done,
    "no-done": _no_done,
    "no-last-blank-line": _no_last_blank_line,
}
