"""The event stream of a turn: bytes in, events out, a network chunk at a time.

Any shape of stream that the WHATWG format allows goes through httpx-sse. The one shape that every `/chat` server
sends, a single `data: ` line a frame, is split here in one go: through httpx-sse alone an event costs several times
as much (see tests/benchmarks).
"""

import codecs
import json
from collections.abc import Callable
from typing import Any

import httpx
from httpx_sse import EventSource

from ..events import Event, parse_event

MAX_FRAME_CHARS = 16 * 1024 * 1024
MAX_DEPTH = 100
MAX_QUOTED_CHARS = 80

_EVENT_STREAM = {"content-type": "text/event-stream"}


class MalformedStreamError(Exception):
    """The bytes are not a stream of events; the message says what they are instead."""


class EventDecoder:
    """Takes the bytes of one stream, cut anywhere, and gives its events.

    `mistake` is what is wrong with the first frame that is no event; nothing is decoded behind it. It quotes what
    `scrub` leaves of the start of the frame.
    """

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self.mistake: MalformedStreamError | None = None
        self._scrub = scrub
        # Always UTF-8, whatever the charset parameter says, and without the byte-order mark that httpx-sse would keep.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._pending = ""
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that are whole with this chunk; a keep-alive is none."""
        frames = self._cut(self._decoder.decode(chunk))
        return self._parse(frames) if frames else []

    def _cut(self, text: str) -> str:
        """Return the text up to its last blank line, with LF as line end, and keep the rest."""
        if self._after_cr:
            text = text.removeprefix("\n")
        self._after_cr = text.endswith("\r")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        searched = max(len(self._pending) - 1, 0)
        # Taken out of the attribute, so that CPython appends in place: a long frame comes in many pieces.
        pending, self._pending = self._pending, ""
        pending += text
        end = pending.rfind("\n\n", searched) + 2
        if end < 2:
            end = 0
        self._pending = pending[end:]
        if len(self._pending) > MAX_FRAME_CHARS:
            self.mistake = MalformedStreamError(f"a single event is longer than {MAX_FRAME_CHARS} characters")
        return pending[:end]

    def _parse(self, frames: str) -> list[Event]:
        events: list[Event] = []
        for data in _split_frames(frames):
            if data:
                try:
                    events.append(_parse_event(data))
                except MalformedStreamError as mistake:
                    # Scrubbed before it is cut: half a secret is no longer recognised.
                    start = " ".join(self._scrub(data).split())[:MAX_QUOTED_CHARS]
                    self.mistake = MalformedStreamError(f"{mistake}: {start!r}")
                    break
        return events


def _split_frames(frames: str) -> list[str]:
    """Return the data of each frame."""
    if frames.startswith("data: "):
        datas = frames[6:-2].split("\n\ndata: ")
        if frames.count("\n") == 2 * len(datas):
            return datas
    source = EventSource(httpx.Response(200, headers=_EVENT_STREAM, text=frames))
    return [frame.data for frame in source.iter_sse()]


def _parse_event(data: str) -> Event:
    try:
        frame = _parse_json(data)
    except (ValueError, RecursionError) as error:
        raise MalformedStreamError(f"an event is not JSON ({error})") from error
    if not isinstance(frame, dict):
        raise MalformedStreamError("an event is not a JSON object")
    if len(data) > 2 * MAX_DEPTH and data.count("{") + data.count("[") > MAX_DEPTH and _depth(frame) > MAX_DEPTH:
        raise MalformedStreamError(f"an event is nested more than {MAX_DEPTH} deep")
    return parse_event(frame)


def _parse_json(data: str) -> Any:
    """Return the value; `raw_decode` takes half the time of `decode`, which allows white space around."""
    try:
        value, end = _DECODER.raw_decode(data)
    except ValueError:
        return _DECODER.decode(data)
    return value if end == len(data) else _DECODER.decode(data)


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
