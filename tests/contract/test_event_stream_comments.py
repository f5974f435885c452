"""Comments, with which servers keep a silent stream alive: they are not frames, and they are counted."""

import pytest

from tests.contract.decoding import decode_frames, make_cuts

STREAMS = {
    "alone": (b": keep-alive\n\n", 1),
    "empty": (b":\n\n", 1),
    "one after the other": (b":a\n:b\n\n:c\n\n", 3),
    "between frames": (b"data: 1\n\n: ping\n\ndata: 2\n\n", 1),
    "in a frame": (b"data: 1\n: ping\ndata: 2\n\n", 1),
    "after a byte-order mark": (b"\xef\xbb\xbf: ping\n\n", 1),
    "by CRLF": (b"data: 1\r\n\r\n: ping\r\n\r\n", 1),
    "by CR": (b": ping\r\rdata: 1\r\r", 1),
    "not UTF-8": (b": \xff\n\n: ping\n\n", 2),
    "unfinished": (b"data: 1\n\n: ping\n", 0),
    "none": (b"data: :\n\ndata::\n\nevent: :a\ndata: \\n: b\n\n", 0),
}


@pytest.mark.parametrize("name", STREAMS)
def test_comments_are_counted(name: str) -> None:
    """A line that starts with a colon is a comment, with any line end and wherever the bytes are cut."""
    body, count = STREAMS[name]
    for chunks in make_cuts(body):
        assert decode_frames(chunks)[1].comments == count
