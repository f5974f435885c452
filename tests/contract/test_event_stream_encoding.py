"""A stream is UTF-8: invalid bytes are read as U+FFFD, and the position of the first one is reported."""

import pytest

from remote_evals.protocols.events import TextDelta
from tests.contract.decoding import decode_events, decode_frames, make_cuts
from tests.contract.event_streams import BOM, VECTORS

GOOD = b'data: {"type":"text.delta","text":"a"}\n\n'
BAD = b'data: {"type":"text.delta","text":"\xff"}\n\n'
FIRST_IN_BAD = BAD.index(b"\xff")

INVALID: dict[str, tuple[bytes, int]] = {
    "in the first frame": (BAD, FIRST_IN_BAD),
    "in a later frame": (GOOD + GOOD + BAD, 2 * len(GOOD) + FIRST_IN_BAD),
    "more than one": (GOOD + BAD + BAD, len(GOOD) + FIRST_IN_BAD),
    "two in a frame": (b"data: a\xff\xfe\ndata: \xff\n\n", 7),
    "in a comment": (b": \xff\n\n" + GOOD, 2),
    "in the name of a field": (b"da\xffta: a\n\n", 2),
    "after a byte-order mark": (BOM + BAD, 3 + FIRST_IN_BAD),
    "after blank lines": (b"\n\r\n\r" + BAD, 4 + FIRST_IN_BAD),
    "after CRLF": (b"data: a\r\n\r\n\r\n\xff\r\n\r\n", 13),
    "after many bytes a character": ("data: 日本\n\n".encode() + b"data: \xff\n\n", 20),
    "a character that continues wrongly": (b"data: \xe6\x97a\n\n", 6),
    "a character that begins within another": (b"data: \xe6\xe6\x97\xa5\n\n", 6),
    "a surrogate": (b"data: a\xed\xa0\x80\n\n", 7),
    "too many bytes for a character": (b"data: \xc0\x80\n\n", 6),
    "beyond the last character": (b"data: \xf4\x90\x80\x80\n\n", 6),
    "a character cut by the end": (GOOD + b"data: a\xe6\x97", len(GOOD) + 7),
    "in a frame without its blank line": (GOOD + b"data: \xff\ndata: a\n", len(GOOD) + 6),
    "half a byte-order mark": (BOM[:2], 0),
    "UTF-16": (b"\xff\xfe" + "data: a\n\n".encode("utf-16-le"), 0),
}


@pytest.mark.parametrize("name", INVALID)
def test_the_first_byte_that_is_not_utf8(name: str) -> None:
    """The offset of the first invalid byte counts every byte of the stream, however the stream is cut."""
    body, at = INVALID[name]
    for chunks in make_cuts(body):
        assert decode_frames(chunks)[1].invalid_utf8_at == at, chunks


@pytest.mark.parametrize("name", VECTORS)
def test_no_other_byte_is_told(name: str) -> None:
    """The first invalid byte is the one that Python finds in the whole stream, or none."""
    body, _ = VECTORS[name]
    try:
        body.decode()
        expected = None
    except UnicodeDecodeError as error:
        expected = error.start
    assert {decode_frames(chunks)[1].invalid_utf8_at for chunks in make_cuts(body)} == {expected}


def test_the_text_says_where_bytes_were_no_text() -> None:
    """Invalid bytes break nothing: the events are read with U+FFFD in their place."""
    events, decoder = decode_events([GOOD + BAD, GOOD])
    assert events == [TextDelta("text.delta", text=text) for text in ("a", "\ufffd", "a")]
    assert decoder.problem is None
    assert decoder.invalid_utf8_at == len(GOOD) + FIRST_IN_BAD


def test_bytes_behind_a_mistake_are_not_looked_at() -> None:
    """Invalid bytes after a frame that is not an event are not reported; those before it are."""
    body = b"data: nope\n\n" + BAD + b"data: \xff"
    assert {decode_events(chunks)[1].invalid_utf8_at for chunks in make_cuts(body)} == {None}
    assert {decode_events(chunks)[1].invalid_utf8_at for chunks in make_cuts(BAD + body)} == {FIRST_IN_BAD}


def test_bytes_of_a_mistake_are_told() -> None:
    """A frame that is not an event because of invalid bytes is reported as both."""
    events, decoder = decode_events([GOOD + b"data: \xff\n\n" + GOOD])
    assert (len(events), decoder.invalid_utf8_at) == (1, len(GOOD) + 6)
    assert str(decoder.problem).endswith(": '\ufffd'")
