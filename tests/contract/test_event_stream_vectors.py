"""Every stream of event_streams.py has the frames that the format requires, however it is cut."""

import pytest

from tests.contract.decoding import decode_frames, make_cuts
from tests.contract.event_streams import VECTORS, Frames


def with_data(frames: Frames) -> Frames:
    """Return the frames that have data: a browser dispatches empty data too, but it cannot be an event."""
    return [(name, data) for name, data in frames if data]


@pytest.mark.parametrize("name", VECTORS)
def test_a_stream_however_it_is_cut(name: str) -> None:
    """A stream has its frames in one chunk, byte by byte with empty chunks between, and cut in two at any byte."""
    body, frames = VECTORS[name]
    for chunks in (*make_cuts(body), [part for at in range(len(body)) for part in (body[at : at + 1], b"")]):
        assert decode_frames(chunks)[0] == with_data(frames), chunks


@pytest.mark.parametrize("name", VECTORS)
def test_a_frame_behind_any_stream(name: str) -> None:
    """A blank line ends what a stream leaves unfinished, and the frames after it are read."""
    body, frames = VECTORS[name]
    got, _ = decode_frames([body, b"\n\n", b"data: {}\n\n", b"event: x\ndata: {}\n\n"])
    assert got[-2:] == [("message", "{}"), ("x", "{}")]
    assert got[: len(with_data(frames))] == with_data(frames)


@pytest.mark.parametrize("name", VECTORS)
def test_what_the_end_cuts_off_is_known(name: str) -> None:
    """A frame without its blank line is never read, but known at the end of the stream; a comment is not a frame."""
    body, _ = VECTORS[name]
    for chunks in make_cuts(body):
        assert decode_frames(chunks)[1].unfinished == name.startswith("unfinished"), chunks
