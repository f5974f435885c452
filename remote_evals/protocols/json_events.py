"""Streams whose frames are JSON objects: bytes in, events out, one network chunk at a time."""

import json
from collections.abc import Callable
from typing import Any

from ..errors import MalformedStreamError
from .events import Event
from .sse import FrameDecoder

MAX_DEPTH = 100
MAX_QUOTED_CHARS = 80


class JsonEventReader:
    """Reads one event stream of JSON objects; see `base.EventReader`.

    `parse` makes an event of a frame's name and object. `scrub` removes secrets from the start of a wrong frame, which
    `problem` quotes.
    """

    def __init__(
        self, parse: Callable[[str, dict[str, Any]], Event], scrub: Callable[[str], str], max_frame_bytes: int
    ) -> None:
        self.problem: MalformedStreamError | None = None
        self._parse = parse
        self._scrub = scrub
        self._frames = FrameDecoder(max_frame_bytes)

    @property
    def comments(self) -> int:
        """How many comment lines came so far; keep-alives are such."""
        return self._frames.comments

    @property
    def invalid_utf8_at(self) -> int | None:
        """The offset in the stream of the first byte that is not UTF-8; U+FFFD replaces what cannot be decoded."""
        return self._frames.invalid_utf8_at

    @property
    def unfinished(self) -> bool:
        """Whether the stream ended, by `finish`, inside a frame: without its blank line a frame is not complete."""
        return self._frames.unfinished

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that are complete with this chunk; a keep-alive is none."""
        events: list[Event] = []
        if self.problem:
            return events
        parse = self._parse
        for name, data in self._frames.feed(chunk):
            try:
                events.append(parse(name, _parse_object(data)))
            except MalformedStreamError as problem:
                # Scrubbed before it is cut: half a secret is no longer recognised.
                start = " ".join(self._scrub(data).split())[:MAX_QUOTED_CHARS]
                self.problem = MalformedStreamError(f"{problem}: {start!r}")
                return events
        if self._frames.too_long:
            limit = f"{self._frames.max_bytes // 2**20} MiB"
            self.problem = MalformedStreamError(f"a single event is longer than {limit}")
        return events

    def finish(self) -> None:
        """Check what the end of the stream cut off; after a problem, nothing."""
        if not self.problem:
            self._frames.finish()


def _parse_object(data: str) -> dict[str, Any]:
    try:
        try:
            # Takes half the time of `decode`, which allows white space around the object.
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
