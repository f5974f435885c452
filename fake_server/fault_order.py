"""Faults of a run's events: every frame is valid, but together they break the protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from itertools import islice
from uuid import uuid4

from fake_server.events import DONE_FRAME, Event, to_frame
from fake_server.fault_frames import Frames, after_first, take_first
from fake_server.faults import Fault

Events = AsyncIterator[Event]
EventChange = Callable[[Events, Fault], Events]

_OTHER_REPLY = "This is for somebody else."
_OTHER_RUN: list[Event] = [
    {"type": "run.start", "agentName": "another"},
    {"type": "step.start", "step": 1},
    {"type": "text.delta", "text": _OTHER_REPLY},
    {"type": "step.done", "step": 1, "finishReason": "stop"},
    {"type": "run.done", "finishReason": "stop", "text": _OTHER_REPLY},
]


@after_first
async def _seq_gap(events: Events, fault: Fault) -> Events:
    async for _ in take_first(events, 1):
        pass
    async for event in events:
        yield event


@after_first
async def _seq_repeat(events: Events, fault: Fault) -> Events:
    async for event in take_first(events, 1):
        yield event
        yield event
    async for event in events:
        yield event


@after_first
async def _crossed(events: Events, fault: Fault) -> Events:
    run_id, others = str(uuid4()), enumerate(_OTHER_RUN)
    async for event in events:
        yield event
        for seq, other in islice(others, 1):
            yield _make_neighbor(event, **other, runId=run_id, seq=seq)


async def _newer_version(events: Events, _: Fault) -> Events:
    async for event in events:
        yield {**event, "v": 2}


@after_first
async def _unknown_call(events: Events, fault: Fault) -> Events:
    async for event in take_first(events, 1):
        call = {"toolCallId": "call_unknown", "toolName": "unknown_tool", "result": None, "durationMs": 0}
        yield _make_neighbor(event, type="tool.done", **call)
        yield event
    async for event in events:
        yield event


@after_first
async def _no_step_done(events: Events, fault: Fault) -> Events:
    async for event in events:
        if event["type"] == "step.done":
            break
        yield event
    async for event in events:
        yield event


async def _second_run_done(events: Events, _: Fault) -> Events:
    async for event in events:
        yield event
        if event["type"] == "run.done":
            yield _make_neighbor(event, type="run.done", finishReason="aborted", text="")


async def _event_after_done(events: Events, _: Fault) -> Events:
    async for event in events:
        yield event
        if event["type"] == "run.done":
            yield _make_neighbor(event, type="text.delta", text="One more thing.")


@after_first
async def _endless(events: Events, fault: Fault) -> Events:
    async for event in take_first(events, 1):
        while True:
            yield _make_neighbor(event, type="text.delta", text="and on ")
            await asyncio.sleep(fault.every)


def _make_neighbor(event: Event, **fields: object) -> Event:
    """Return an event with `fields`; the run, number, time and version that they lack are those of `event`."""
    return {**fields, **{key: event[key] for key in ("runId", "seq", "timestamp", "v") if key not in fields}}


def _renumber(change: EventChange) -> EventChange:
    """Return `change` with its events numbered from 0, without a gap."""

    async def change_and_number(events: Events, fault: Fault) -> Events:
        seq = 0
        async for event in change(events, fault):
            yield {**event, "seq": seq}
            seq += 1

    return change_and_number


def _as_frame_change(change: EventChange) -> Callable[[Frames, Fault], Frames]:
    """Return `change` as a change to frames; the frame that closes the stream stays last."""

    async def change_frames(frames: Frames, fault: Fault) -> Frames:
        async for event in change(_parse_events(frames), fault):
            yield to_frame(event)
        yield DONE_FRAME

    return change_frames


async def _parse_events(frames: Frames) -> Events:
    async for frame in frames:
        if frame != DONE_FRAME:
            yield json.loads(frame.removeprefix(b"data: "))


ORDER_CHANGES = {
    "seq-gap": _as_frame_change(_seq_gap),
    "seq-repeat": _as_frame_change(_seq_repeat),
    "crossed": _as_frame_change(_crossed),
    "newer-version": _as_frame_change(_newer_version),
    "unknown-call": _as_frame_change(_renumber(_unknown_call)),
    "no-step-done": _as_frame_change(_renumber(_no_step_done)),
    "second-run-done": _as_frame_change(_renumber(_second_run_done)),
    "event-after-done": _as_frame_change(_renumber(_event_after_done)),
    "endless": _as_frame_change(_renumber(_endless)),
}
