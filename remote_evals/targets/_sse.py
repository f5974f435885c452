"""The events of a turn's stream: bytes in, events out, a network chunk at a time."""

import json
from collections.abc import Callable
from typing import Any

from ..events import Event, StreamEnd, parse_event
from ._frames import MAX_FRAME_BYTES, FrameDecoder

MAX_DEPTH = 100
MAX_QUOTED_CHARS = 80


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
