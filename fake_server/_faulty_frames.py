"""Faults of frames: one too many, one too few, or one that is no event."""

import asyncio
from collections.abc import Callable

from fake_server._frames import Frames, first, late
from fake_server._wire import DONE_FRAME
from fake_server.faults import Fault

RUN_DONE = b'data: {"type":"run.done"'
TEXT_DELTA = b'data: {"type":"text.delta"'

_LATIN_1_E_ACUTE = b"\xe9"
_PIECE_BYTES = 64 * 1024


@late
async def _keep_alives(frames: Frames, fault: Fault) -> Frames:
    loop = asyncio.get_running_loop()
    end_s = loop.time() + fault.for_s
    while loop.time() < end_s:
        yield b": keep-alive\n\n"
        await asyncio.sleep(fault.every)
    async for frame in frames:
        yield frame


@late
async def _not_json(frames: Frames, fault: Fault) -> Frames:
    yield b'data: {"type": this is not JSON\n\n'
    async for frame in frames:
        yield frame


@late
async def _invalid_utf8(frames: Frames, fault: Fault) -> Frames:
    async for frame in frames:
        if frame.startswith(TEXT_DELTA):
            yield frame.replace(b'"text":"', b'"text":"' + _LATIN_1_E_ACUTE, 1)
            break
        yield frame
    async for frame in frames:
        yield frame


@late
async def _huge_frame(frames: Frames, fault: Fault) -> Frames:
    async for frame in first(frames, 1):
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
    while not (frame := await anext(frames)).startswith(RUN_DONE):
        yield frame


async def _no_done(frames: Frames, _: Fault) -> Frames:
    async for frame in frames:
        if frame != DONE_FRAME:
            yield frame


async def _no_last_blank_line(frames: Frames, _: Fault) -> Frames:
    while not (frame := await anext(frames)).startswith(RUN_DONE):
        yield frame
    yield frame.removesuffix(b"\n")


FRAME_CHANGES: dict[str, Callable[[Frames, Fault], Frames]] = {
    "keep-alives": _keep_alives,
    "not-json": _not_json,
    "invalid-utf8": _invalid_utf8,
    "huge-frame": _huge_frame,
    "no-run-done": _no_run_done,
    "no-done": _no_done,
    "no-last-blank-line": _no_last_blank_line,
}
