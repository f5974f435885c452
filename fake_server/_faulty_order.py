"""Faults of a run's events: every frame is well-formed, but what they say together is against the protocol."""

import asyncio
from itertools import islice
from uuid import uuid4

from fake_server._frames import first, late
from fake_server._run_events import Events, beside, in_frames, numbered
from fake_server._wire import Event
from fake_server.faults import Fault

_ANOTHER_REPLY = "This is for somebody else."
_ANOTHER_RUN: list[Event] = [
    {"type": "run.start", "agentName": "another"},
    {"type": "step.start", "step": 1},
    {"type": "text.delta", "text": _ANOTHER_REPLY},
    {"type": "step.done", "step": 1, "finishReason": "stop"},
    {"type": "run.done", "finishReason": "stop", "text": _ANOTHER_REPLY},
]


@late
async def _seq_gap(events: Events, fault: Fault) -> Events:
    async for _ in first(events, 1):
        pass
    async for event in events:
        yield event


@late
async def _seq_repeat(events: Events, fault: Fault) -> Events:
    async for event in first(events, 1):
        yield event
        yield event
    async for event in events:
        yield event


@late
async def _crossed(events: Events, fault: Fault) -> Events:
    run_id, others = str(uuid4()), enumerate(_ANOTHER_RUN)
    async for event in events:
        yield event
        for seq, other in islice(others, 1):
            yield beside(event, **other, runId=run_id, seq=seq)


async def _newer_version(events: Events, _: Fault) -> Events:
    async for event in events:
        yield {**event, "v": 2}


@late
async def _unknown_call(events: Events, fault: Fault) -> Events:
    async for event in first(events, 1):
        called = {"toolCallId": "call_unknown", "toolName": "unknown_tool", "result": None, "durationMs": 0}
        yield beside(event, type="tool.done", **called)
        yield event
    async for event in events:
        yield event


@late
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
            yield beside(event, type="run.done", finishReason="aborted", text="")


async def _event_after_done(events: Events, _: Fault) -> Events:
    async for event in events:
        yield event
        if event["type"] == "run.done":
            yield beside(event, type="text.delta", text="One more thing.")


@late
async def _endless(events: Events, fault: Fault) -> Events:
    async for event in first(events, 1):
        while True:
            yield beside(event, type="text.delta", text="and on ")
            await asyncio.sleep(fault.every)


ORDER_CHANGES = {
    "seq-gap": in_frames(_seq_gap),
    "seq-repeat": in_frames(_seq_repeat),
    "crossed": in_frames(_crossed),
    "newer-version": in_frames(_newer_version),
    "unknown-call": in_frames(numbered(_unknown_call)),
    "no-step-done": in_frames(numbered(_no_step_done)),
    "second-run-done": in_frames(numbered(_second_run_done)),
    "event-after-done": in_frames(numbered(_event_after_done)),
    "endless": in_frames(numbered(_endless)),
}
