"""How much of a stream is kept: one frame up to the size limit, and nothing after a longer one."""

import json
import tracemalloc

import pytest

from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.events import TextDelta
from remote_evals.transport.limits import SizeLimits
from tests.contract.decoding import decode_frames, make_cuts
from tests.contract.event_streams import BOM, messages

MIB = 1024 * 1024
FRAME_BYTES = SizeLimits().frame_bytes
TOO_LONG = "a single event is longer than 16 MiB"

# A frame without its blank line, and that blank line.
FRAMES: dict[str, tuple[bytes, bytes]] = {
    "LF": (b"data: aaaa\n", b"\n"),
    "CR": (b"data: aaaa\r", b"\r"),
    "CRLF": (b"data: aaaa\r\n", b"\r\n"),
    "CRLF, blank LF": (b"data: aaaa\r\n", b"\n"),
    "LF, blank CRLF": (b"data: aaaa\n", b"\r\n"),
    "many bytes a character": ("data: 日本\n".encode(), b"\n"),
    "not UTF-8": (b"data: \xff\xfe\xff\n", b"\n"),
    "many data lines": (b"data: a\n" + b"data:\r\n" + b"data\r" * 5, b"\r\n"),
    "comments inside": (b": x\r\ndata: a\r\n" + b":\r\n" * 5, b"\r\n"),
    "unknown fields": (b"id: 1\nretry\nfoo: bar\ndata: a\n", b"\n"),
}
BEFORE = b"data: 1\r\n\r\n"
AFTER = b"data: 2\n\n"


def to_frame(text: str) -> bytes:
    """Return a text delta as it is sent."""
    return b"data: %b\n\n" % json.dumps({"type": "text.delta", "text": text}).encode()


@pytest.mark.parametrize("blank_lines", [b"", b"\n", b"\r\n\r"], ids=["none", "LF", "CRLF and CR"])
@pytest.mark.parametrize("name", FRAMES)
def test_the_bound_is_exact(name: str, blank_lines: bytes) -> None:
    """A frame of the largest size is read and one with a byte more is not, wherever the stream is cut."""
    frame, end = FRAMES[name]
    body = BEFORE + blank_lines + frame + end + AFTER
    for chunks in make_cuts(body):
        (first, _, last), decoder = decode_frames(chunks, len(frame))
        assert ([first, last], decoder.too_long) == (messages("1", "2"), False)
    for chunks in make_cuts(body):
        frames, decoder = decode_frames(chunks, len(frame) - 1)
        assert (frames, decoder.too_long) == (messages("1"), True)


def test_a_stream_may_start_with_a_frame_at_the_bound() -> None:
    """A byte-order mark and blank lines after it do not count as bytes of the first frame."""
    for chunks in make_cuts(BOM + b"\r\n\n" + b"data: 1\n\n"):
        frames, decoder = decode_frames(chunks, len(b"data: 1\n"))
        assert (frames, decoder.too_long) == (messages("1"), False)


@pytest.mark.parametrize("bytes_more", [0, 1], ids=["at the bound", "a byte more"])
@pytest.mark.parametrize("chunk_bytes", [32 * MIB, MIB - 1], ids=["one chunk", "many chunks"])
def test_the_bound_of_an_event(bytes_more: int, chunk_bytes: int) -> None:
    """An event of 16 MiB is read; a longer one is a problem, and what came before it in the same chunk is kept."""
    text = "x" * (FRAME_BYTES - len(to_frame("")) + 1 + bytes_more)
    body = to_frame("a") + to_frame(text) + to_frame("b")
    decoder = CHAT.open_reader(str, FRAME_BYTES)
    events = [event for at in range(0, len(body), chunk_bytes) for event in decoder.feed(body[at : at + chunk_bytes])]
    assert [event.text for event in events if isinstance(event, TextDelta)] == (
        ["a"] if bytes_more else ["a", text, "b"]
    )
    assert str(decoder.problem or "") == (TOO_LONG if bytes_more else "")


def test_nothing_is_read_behind_a_frame_that_is_too_long() -> None:
    """After a frame that is too long nothing is decoded, and the end of the stream adds nothing."""
    decoder = CHAT.open_reader(str, FRAME_BYTES)
    assert decoder.feed(b"data: " + b"x" * FRAME_BYTES) == []
    assert decoder.feed(b"\n\n" + to_frame("a") + b"data: \xff") == []
    decoder.finish()
    assert (str(decoder.problem), decoder.invalid_utf8_at, decoder.unfinished) == (TOO_LONG, None, False)


ENDLESS = {
    "a line": b"x",
    "data lines": b"data:\n",
    "data lines in CRLF": b"data: a\r\n",
    "comments": b": keep-alive\n",
    "comments in CR": b":\r",
    "fields": b"id: 1\r\nevent: x\n",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_frame_without_end_is_given_up(name: str) -> None:
    """An endless frame of any kind is kept up to the limit, in little more memory than that, and then dropped."""
    piece = ENDLESS[name] * (256 * 1024 // len(ENDLESS[name]))
    decoder, fed = CHAT.open_reader(str, FRAME_BYTES), 0
    tracemalloc.start()
    try:
        while not decoder.problem:
            assert decoder.feed(piece) == []
            fed += len(piece)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert FRAME_BYTES < fed <= FRAME_BYTES + len(piece)
    assert peak < 3 * FRAME_BYTES
    assert kept < MIB
    assert str(decoder.problem) == TOO_LONG


@pytest.mark.parametrize("line", [b"data:\n", b":\r\n", b"\n"], ids=["data", "comments", "blank"])
def test_many_short_lines_take_memory_in_proportion(line: bytes) -> None:
    """A chunk of four times as many short lines takes four times as much memory, not sixteen times."""

    def measure(chunk: bytes) -> int:
        tracemalloc.start()
        try:
            assert CHAT.open_reader(str, FRAME_BYTES).feed(chunk + b"\n\n") == []
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert measure(line * 40_000) < 6 * measure(line * 10_000)
