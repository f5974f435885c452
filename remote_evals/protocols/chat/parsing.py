"""The events of a turn's stream: bytes in, events out, a network chunk at a time."""

import json
from collections.abc import Callable
from typing import Any

from ...core.json_values import is_number
from ...errors import MalformedStreamError
from ..events import (
    ApprovalRequested,
    Event,
    Frame,
    RunDone,
    RunFailed,
    RunStart,
    StepDone,
    StepStart,
    StreamEnd,
    Subagent,
    TextDelta,
    TextDone,
    ToolEnd,
    ToolStart,
    UnknownEvent,
)
from ..sse import MAX_FRAME_BYTES, FrameDecoder


def parse_event(frame: Frame) -> Event:
    """Return the event of one JSON object of the stream; never raises, whatever the fields hold."""
    kind = _text(frame.get("type"))
    parse = _PARSERS.get(kind, UnknownEvent)
    subagent = frame.get("subagent")
    return parse(kind, _parse_subagent(subagent) if isinstance(subagent, dict) else None, frame)


def _parse_subagent(of: Frame) -> Subagent:
    path, call_ids = [_text(of.get("name"))], [_text(of.get("toolCallId"))]
    while isinstance(parent := of.get("parent"), dict):
        of = parent
        path.append(_text(of.get("name")))
        call_ids.append(_text(of.get("toolCallId")))
    return Subagent(tuple(reversed(path)), tuple(reversed(call_ids)))


def _parse_run_start(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    return RunStart(kind, subagent, frame, _text(frame.get("runId")) or None)


def _parse_tool_start(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    resumed = kind == "tool.resume"
    return ToolStart(
        kind, subagent, frame, _text(frame.get("toolCallId")), _text(frame.get("toolName")), _args(frame), resumed
    )


def _parse_tool_end(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    error = _object(frame.get("error")) or {} if kind == "tool.error" else None
    duration = frame.get("durationMs")
    return ToolEnd(
        kind,
        subagent,
        frame,
        call_id=_text(frame.get("toolCallId")),
        name=_text(frame.get("toolName")),
        result=frame.get("result"),
        error=error,
        duration_ms=duration if is_number(duration) else None,
    )


def _parse_approval(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    return ApprovalRequested(
        kind,
        subagent,
        frame,
        approval_id=_text(frame.get("approvalId")),
        call_id=_text(frame.get("toolCallId")),
        name=_text(frame.get("toolName")),
        args=_args(frame),
        question=_object(frame.get("question")),
    )


def _parse_run_done(kind: str, subagent: Subagent | None, frame: Frame) -> Event:
    text = frame.get("text")
    return RunDone(
        kind,
        subagent,
        frame,
        finish_reason=_text(frame.get("finishReason")),
        text=text if isinstance(text, str) else None,
        usage=_object(frame.get("usage")),
        object=frame.get("object"),
        run_id=_text(frame.get("runId")) or None,
    )


_PARSERS: dict[str, Callable[[str, Subagent | None, Frame], Event]] = {
    "run.start": _parse_run_start,
    "step.start": StepStart,
    "step.done": StepDone,
    "text.delta": lambda kind, subagent, frame: TextDelta(kind, subagent, frame, _text(frame.get("text"))),
    "text.done": lambda kind, subagent, frame: TextDone(kind, subagent, frame, _text(frame.get("text"))),
    "tool.start": _parse_tool_start,
    "tool.resume": _parse_tool_start,
    "tool.done": _parse_tool_end,
    "tool.error": _parse_tool_end,
    "approval.requested": _parse_approval,
    "error": lambda kind, subagent, frame: RunFailed(kind, subagent, frame, _object(frame.get("error")) or {}),
    "run.done": _parse_run_done,
}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _args(frame: Frame) -> dict[str, Any]:
    return _object(frame.get("args")) or {}


MAX_DEPTH = 100
MAX_QUOTED_CHARS = 80


class EventDecoder:
    """Takes the bytes of one stream, cut anywhere, and gives its events.

    `mistake` is what is wrong with the first frame that is no event; nothing is decoded behind it. It quotes what
    `scrub` leaves of the start of the frame.
    """

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self.mistake: MalformedStreamError | None = None
        self._scrub = scrub
        self._frames = FrameDecoder()

    @property
    def comments(self) -> int:
        """How many comments came by now, each a line: keep-alives are such."""
        return self._frames.comments

    @property
    def invalid_utf8_at(self) -> int | None:
        """The offset in the stream of the first byte that is not UTF-8; U+FFFD stands for what is not."""
        return self._frames.invalid_utf8_at

    @property
    def unfinished(self) -> bool:
        """Whether the stream ended, by `finish`, in a frame: without its blank line it is none."""
        return self._frames.unfinished

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that are whole with this chunk; a keep-alive is none."""
        events: list[Event] = []
        if self.mistake:
            return events
        for name, data in self._frames.feed(chunk):
            try:
                frame = _parse_object(data)
            except MalformedStreamError as mistake:
                # Scrubbed before it is cut: half a secret is no longer recognised.
                start = " ".join(self._scrub(data).split())[:MAX_QUOTED_CHARS]
                self.mistake = MalformedStreamError(f"{mistake}: {start!r}")
                return events
            # Of all names this one alone says what the data does not.
            if name == "done" and "type" not in frame:
                events.append(StreamEnd(name, None, frame))
            else:
                events.append(parse_event(frame))
        if self._frames.too_long:
            self.mistake = MalformedStreamError(f"a single event is longer than {MAX_FRAME_BYTES // 2**20} MiB")
        return events

    def finish(self) -> None:
        """Note what the end of the stream cut off; behind a mistake that is nothing."""
        if not self.mistake:
            self._frames.finish()


def _parse_object(data: str) -> dict[str, Any]:
    try:
        try:
            # In half the time of `decode`, which allows white space around.
            frame, end = _DECODER.raw_decode(data)
        except ValueError:
            end = -1
        if end != len(data):
            frame = _DECODER.decode(data)
    except (ValueError, RecursionError) as error:
        raise MalformedStreamError(f"an event is not JSON ({error})") from error
    if not isinstance(frame, dict):
        raise MalformedStreamError("an event is not a JSON object")
    if len(data) > 2 * MAX_DEPTH and data.count("{") + data.count("[") > MAX_DEPTH and _depth(frame) > MAX_DEPTH:
        raise MalformedStreamError(f"an event is nested more than {MAX_DEPTH} deep")
    return frame


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


# The standard library's decoder, since the faster ones refuse the lone surrogates that models do send.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _depth(value: Any) -> int:
    """Return how deep a value is nested, without recursion."""
    level, depth = [value], 0
    while level:
        depth += 1
        containers = [item for item in level if isinstance(item, dict | list)]
        level = [part for item in containers for part in (item.values() if isinstance(item, dict) else item)]
    return depth
