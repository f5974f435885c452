"""Random streams, read by our decoder and by one written from the specification alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.decoding import decode_frames
from tests.contract.event_streams import BOM
from tests.contract.spellings import cut
from tests.property.reference_stream import read_stream

PIECES = st.sampled_from(
    [
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r"),
        *(b"data: a\n\n", b"data: b\n\ndata: c\n\n", b"data: \n\n", b"event: done\ndata: {}\n\n", b"data: a\r\n\r\n"),
        *(b"data", b"event", b"id", b"retry", b"dat", b"Data", b"foo", b"data: ", b"data:", b"event: x", b"id: 1"),
        *(b":", b": ", b" ", b"  ", b"\t", b": comment", b"a", b"{}", b"0", b"\0"),
        *(BOM, BOM[:2], BOM[:1], "é".encode(), "日".encode(), "🎉".encode()),
        *("\u2028".encode(), "\u2029".encode(), "\x85".encode(), b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e"),
        *(b"\xff", b"\x80", b"\xe6\x97", b"\xf0\x9f\x8e", b"\xed\xa0\x80", b"\xc0\x8a", b"\x8a"),
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=3), max_size=30).map(b"".join)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(STREAMS, st.sets(st.integers(1, 150)))
def test_any_stream_is_read_as_specified(body: bytes, places: set[int]) -> None:
    """Frames, the first byte that is not UTF-8 and an unfinished last frame are as specified."""
    expected = read_stream(body)
    frames, decoder = decode_frames(cut(body, places))
    assert frames == [(name, data) for name, data in expected.frames if data]
    assert decoder.invalid_utf8_at == expected.invalid_utf8_at
    assert decoder.unfinished == expected.unfinished
