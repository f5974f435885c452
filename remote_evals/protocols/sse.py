"""The frames of an event stream, bytes in and text out, as section 9.2 of WHATWG HTML has them.

Frames are cut here, at their blank lines, with any line ends and wherever a chunk ends; httpx-sse reads their fields.
The most common shape, a single `data: ` line a frame, is split in one go, since an event costs several times as much
through httpx-sse alone (see tests/benchmarks). A stream is never requested again, so `id` and `retry` mean nothing.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import repeat

import httpx
from httpx_sse import EventSource

SseFrame = tuple[str, str]
"""The name of a frame's event, `message` if it gives none, and its data."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_EVENT_STREAM = {"content-type": "text/event-stream"}
_LINE_ENDS = b"\r\n"
_BLANK_LINES = re.compile(rb"(?:\n[\r\n]|\r\r)[\r\n]*")
_LINE_OF_A_FIELD = re.compile(rb"(?:\A|[\r\n])[^:\r\n]")


class FrameDecoder:
    """Splits the bytes of one stream, cut anywhere, into the frames that have data.

    `comments` is the number of comment lines, each counted once the blank line after it came. `invalid_utf8_at` is the
    offset in the stream of the first byte that is not UTF-8; U+FFFD replaces what cannot be decoded. `too_long` is true
    once a frame has more than `max_bytes`, its blank line not counted: no frame is returned from there on. `unfinished`
    is true, after `finish`, if the stream ended inside a frame: without its blank line it is not complete.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.comments = 0
        self.invalid_utf8_at: int | None = None
        self.too_long = False
        self.unfinished = False
        self._rest = bytearray()
        self._at = 0  # the offset of the rest

    def feed(self, chunk: bytes) -> Iterable[SseFrame]:
        """Return the frames that are complete with this chunk; take them before the next `feed`."""
        ends = chunk[-2:] == b"\n\n" or chunk[-4:] == b"\r\n\r\n"
        frames: bytes | bytearray = chunk
        if ends and chunk[:5] == b"data:" and not self._rest and len(chunk) <= self.max_bytes:
            self._at += len(chunk)
        else:
            frames = self._cut(chunk)
        try:
            return self._split(str(frames, "utf-8")) if frames else ()
        except UnicodeDecodeError as error:
            return self._split_around(frames, error.start)

    def finish(self) -> None:
        """Check what the end of the stream cut off."""
        try:
            str(self._rest, "utf-8")
        except UnicodeDecodeError as error:
            self._record_invalid(self._at + error.start)
        self.unfinished = _LINE_OF_A_FIELD.search(self._rest) is not None

    def _cut(self, chunk: bytes) -> bytes | bytearray:
        """Return the frames that are complete with this chunk, each with its blank line, and keep the rest."""
        rest = self._rest
        rest += chunk
        if self._at == 0 and rest.startswith(_BYTE_ORDER_MARK):
            self._at = len(_BYTE_ORDER_MARK)
            del rest[: self._at]
        end = _find_end(rest, len(rest) - len(chunk) - 1)
        if len(rest) > self.max_bytes:
            end = self._find_too_long(end)
        frames = rest[:end]
        del rest[: len(rest) if self.too_long else end]
        self._at += end
        return frames

    def _find_too_long(self, end: int) -> int:
        """Return where the first frame begins that is too long, or `end` if none is."""
        start = len(self._rest) - len(self._rest.lstrip(_LINE_ENDS))
        for blank in _BLANK_LINES.finditer(self._rest, start, end):
            if blank.start() + 1 - start > self.max_bytes:
                break
            start = blank.end()
        self.too_long = len(self._rest) - start > self.max_bytes
        return start

    def _split_around(self, frames: bytes | bytearray, invalid_at: int) -> Iterator[SseFrame]:
        """Yield the frames, and record the first byte that is not UTF-8 after those before it were taken."""
        start = _find_end(frames[:invalid_at], 0)
        yield from self._split(str(frames[:start], "utf-8"))
        self._record_invalid(self._at - len(frames) + invalid_at)
        yield from self._split(str(frames[start:], "utf-8", "replace"))

    def _split(self, text: str) -> Iterable[SseFrame]:
        """Return the frames of a text that ends with a blank line, except those whose data is empty."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text.startswith("data: "):
            datas = text[6:-2].split("\n\ndata: ")
            if text.count("\n") == 2 * len(datas) and "" not in datas:
                return zip(repeat("message"), datas)
        self.comments += text.startswith(":") + text.count("\n:")
        source = EventSource(httpx.Response(200, headers=_EVENT_STREAM, text=text))
        # httpx-sse gives a frame that has an `id` and no data empty data; neither says anything.
        return [(frame.event, frame.data) for frame in source.iter_sse() if frame.data]

    def _record_invalid(self, at: int) -> None:
        if self.invalid_utf8_at is None:
            self.invalid_utf8_at = at


def _find_end(data: bytes | bytearray, start: int) -> int:
    """Return the end of the last frame that ends at `start` or later, with its blank lines, or 0 for none."""
    start = max(start, 0)
    # Finding one byte is many times faster than two: a long frame has no LF inside, and most streams have no CR.
    blank = data.rfind(b"\n\n", start) if data.find(b"\n", start) >= 0 else -1
    if data.find(b"\r", start) >= 0:
        blank = max(blank, data.rfind(b"\n\r", start), data.rfind(b"\r\r", start))
    end = blank + 2 if blank >= 0 else 0
    while end < len(data) and data[end] in _LINE_ENDS:
        end += 1
    return end
