"""The frames of a run, read as its events: what its order is made of."""

import json
from collections.abc import AsyncIterator, Callable

from fake_server._frames import Frames
from fake_server._wire import DONE_FRAME, Event, to_frame
from fake_server.faults import Fault

Events = AsyncIterator[Event]
EventChange = Callable[[Events, Fault], Events]


def in_frames(change: EventChange) -> Callable[[Frames, Fault], Frames]:
    """Return `change` as one of frames; the frame that closes the stream is still its last."""

    async def changed(frames: Frames, fault: Fault) -> Frames:
        async for event in change(_events_in(frames), fault):
            yield to_frame(event)
        yield DONE_FRAME

    return changed


def numbered(change: EventChange) -> EventChange:
    """Return `change` with the events it leaves numbered from 0, without a gap."""

    async def changed(events: Events, fault: Fault) -> Events:
        seq = 0
        async for event in change(events, fault):
            yield {**event, "seq": seq}
            seq += 1

    return changed


def beside(event: Event, **fields: object) -> Event:
    """Return another event with `fields`; what they leave out of its run, number and time is that of `event`."""
    return {**fields, **{key: event[key] for key in ("runId", "seq", "timestamp", "v") if key not in fields}}


async def _events_in(frames: Frames) -> Events:
    async for frame in frames:
        if frame != DONE_FRAME:
            yield json.loads(frame.removeprefix(b"data: "))
