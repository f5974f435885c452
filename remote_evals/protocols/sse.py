"""The frames of an event stream, bytes in and text out, as section 9.2 of WHATWG HTML has them.

A frame is cut here, where a blank line ends it, whatever its line ends are and wherever a chunk ends; what its fields
mean is left to httpx-sse. The one shape that every `/chat` server sends, a single `data: ` line a frame, is split in
one go: through httpx-sse alone an event costs several times as much (see tests/benchmarks). Nobody is ever asked to
send a stream again, so `id` and `retry` mean nothing.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import repeat

import httpx
from httpx_sse import EventSource

MAX_FRAME_BYTES = 16 * 1024 * 1024

SseFrame = tuple[str, str]
"""The name of a frame's event, `message` where it says none, and its data."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_EVENT_STREAM = {"content-type": "text/event-stream"}
_LINE_ENDS = b"\r\n"
_BLANK_LINES = re.compile(rb"(?:\n[\r\n]|\r\r)[\r\n]*")
_LINE_OF_A_FIELD = re.compile(rb"(?:\A|[\r\n])[^:\r\n]")


class FrameDecoder:
    """Takes the bytes of one stream, cut anywhere, and gives the frames that have data.

    `comments` is how many lines were comments, each counted once the blank line behind it came.
    `invalid_utf8_at` is the offset in the stream of the first byte that is not UTF-8; U+FFFD stands for what is not.
    `too_long` says that a frame has more than `MAX_FRAME_BYTES`, its blank line not counted: no frame is given from
    there on. `unfinished` says, after `finish`, that the stream ended in a frame, which is none without a blank line.
    """

    def __init__(self) -> None:
        self.comments = 0
        self.invalid_utf8_at: int | None = None
        self.too_long = False
        self.unfinished = False
        self._rest = bytearray()
        self._at = 0  # the offset of the rest

    def feed(self, chunk: bytes) -> Iterable[SseFrame]:
        """Return the frames that are whole with this chunk, to be taken before the next is fed."""
        ends = chunk[-2:] == b"\n\n" or chunk[-4:] == b"\r\n\r\n"
        frames: bytes | bytearray = chunk
        if ends and chunk[:5] == b"data:" and not self._rest and len(chunk) <= MAX_FRAME_BYTES:
            self._at += len(chunk)
        else:
            frames = self._cut(chunk)
        try:
            return self._split(str(frames, "utf-8")) if frames else ()
        except UnicodeDecodeError as error:
            return self._split_around(frames, error.start)

    def finish(self) -> None:
        """Note what the end of the stream cut off."""
        try:
            str(self._rest, "utf-8")
        except UnicodeDecodeError as error:
            self._note_invalid(self._at + error.start)
        self.unfinished = _LINE_OF_A_FIELD.search(self._rest) is not None

    def _cut(self, chunk: bytes) -> bytes | bytearray:
        """Return the frames that are whole with this chunk, each with its blank line, and keep the rest."""
        rest = self._rest
        rest += chunk
        if self._at == 0 and rest.startswith(_BYTE_ORDER_MARK):
            self._at = len(_BYTE_ORDER_MARK)
            del rest[: self._at]
        end = _find_end(rest, len(rest) - len(chunk) - 1)
        if len(rest) > MAX_FRAME_BYTES:
            end = self._find_too_long(end)
        frames = rest[:end]
        del rest[: len(rest) if self.too_long else end]
        self._at += end
        return frames

    def _find_too_long(self, end: int) -> int:
        """Return where the first frame begins that is too long, `end` when none is."""
        start = len(self._rest) - len(self._rest.lstrip(_LINE_ENDS))
        for blank in _BLANK_LINES.finditer(self._rest, start, end):
            if blank.start() + 1 - start > MAX_FRAME_BYTES:
                break
            start = blank.end()
        self.too_long = len(self._rest) - start > MAX_FRAME_BYTES
        return start

    def _split_around(self, frames: bytes | bytearray, invalid_at: int) -> Iterator[SseFrame]:
        """Yield the frames, and note the first byte that is not UTF-8 once those before it were taken."""
        start = _find_end(frames[:invalid_at], 0)
        yield from self._split(str(frames[:start], "utf-8"))
        self._note_invalid(self._at - len(frames) + invalid_at)
        yield from self._split(str(frames[start:], "utf-8", "replace"))

    def _split(self, text: str) -> Iterable[SseFrame]:
        """Return the frames of a text that ends with a blank line, but for those whose data is empty."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text.startswith("data: "):
            datas = text[6:-2].split("\n\ndata: ")
            if text.count("\n") == 2 * len(datas) and "" not in datas:
                return zip(repeat("message"), datas)
        self.comments += text.startswith(":") + text.count("\n:")
        source = EventSource(httpx.Response(200, headers=_EVENT_STREAM, text=text))
        # A frame with an `id` and no data, which is none, looks there like one whose data is empty, which says nothing.
        return [(frame.event, frame.data) for frame in source.iter_sse() if frame.data]

    def _note_invalid(self, at: int) -> None:
        if self.invalid_utf8_at is None:
            self.invalid_utf8_at = at


def _find_end(data: bytes | bytearray, start: int) -> int:
    """Return where the last frame ends that ends from `start` on, 0 for none, or the blank lines right behind it."""
    start = max(start, 0)
    # One byte is found many times faster than two: a long frame has no LF inside, and most streams have no CR.
    blank = data.rfind(b"\n\n", start) if data.find(b"\n", start) >= 0 else -1
    if data.find(b"\r", start) >= 0:
        blank = max(blank, data.rfind(b"\n\r", start), data.rfind(b"\r\r", start))
    end = blank + 2 if blank >= 0 else 0
    while end < len(data) and data[end] in _LINE_ENDS:
        end += 1
    return end
