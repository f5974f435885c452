"""What the frames of a stream become: events, keep-alives, the end of the stream, or a problem."""

import pytest

from remote_evals.protocols.events import Event, RunDone, StreamEnd, TextDelta, UnknownEvent
from tests.contract.decoding import decode_events, make_cuts

DELTA = b'data: {"type":"text.delta","text":"a"}\n\n'
RUN_DONE = b'data: {"type":"run.done","finishReason":"stop"}\n\n'


@pytest.mark.parametrize(
    "end",
    [
        b"event: done\ndata: {}\n\n",
        b"data: {}\nevent: done\n\n",
        b"event:done\r\ndata:{}\r\n\r\n",
        b'event: done\ndata: {"reason":"over"}\n\n',
        b"id: 7\nretry: 5\nevent: x\nevent: done\ndata: { }\n: bye\n\n",
    ],
)
def test_the_end_of_the_stream_is_an_event(end: bytes) -> None:
    """A frame named `done` without a type of its own ends the stream, however it is written."""
    for chunks in make_cuts(RUN_DONE + end):
        done, stream_end = decode_events(chunks)[0]
        assert isinstance(done, RunDone)
        assert stream_end == StreamEnd("done")


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (b'event: done\ndata: {"type":"text.delta","text":"a"}\n\n', TextDelta("text.delta", text="a")),
        (b'event: done\ndata: {"type":null}\n\n', UnknownEvent("")),
        (b'event: text.delta\ndata: {"type":"text.delta","text":"a"}\n\n', TextDelta("text.delta", text="a")),
        (b'event: error\ndata: {"type":"text.delta","text":"a"}\n\n', TextDelta("text.delta", text="a")),
        (b"event: Done\ndata: {}\n\n", UnknownEvent("")),
        (b"event:  done\ndata: {}\n\n", UnknownEvent("")),
        (b"event: done\nevent\ndata: {}\n\n", UnknownEvent("")),
        (b"event: done\n\ndata: {}\n\n", UnknownEvent("")),
        (b"data: {}\n\n", UnknownEvent("")),
    ],
)
def test_any_other_name_means_nothing(frame: bytes, expected: Event) -> None:
    """The type in its data decides what a frame is; its name changes nothing and is dropped."""
    assert decode_events([frame])[0] == [expected]


def test_the_end_of_the_stream_keeps_its_frame() -> None:
    """The last event keeps its frame, as any event does."""
    [end] = decode_events([b'event: done\ndata: {"reason":"over"}\n\n'])[0]
    assert end.frame == {"reason": "over"}


@pytest.mark.parametrize(
    "nothing",
    [
        b": keep-alive\n\n",
        b"\n",
        b"event: done\n\n",
        b"data:\n\n",
        b"data: \n\n",
        b"event: done\ndata\n\n",
        b"id: 1\n\n",
    ],
)
def test_what_has_no_data_is_no_event(nothing: bytes) -> None:
    """Comments, blank lines, and frames without data or with empty data are not events."""
    events, decoder = decode_events([nothing, nothing + DELTA + nothing, DELTA, nothing])
    assert events == [TextDelta("text.delta", text="a")] * 2
    assert decoder.problem is None


@pytest.mark.parametrize(
    "wrong",
    [
        b"data: [DONE]\n\n",
        b"event: done\ndata: bye\n\n",
        b"event: ping\ndata: 7\n\n",
        b"data: \n \n\xef\xbb\xbf\ndata: {\n\n",
    ],
)
def test_nothing_is_decoded_behind_a_mistake(wrong: bytes) -> None:
    """A frame that is not a JSON object ends the decoding, in the same chunk and in later ones."""
    for chunks in make_cuts(DELTA + wrong + DELTA + b"data: "):
        events, decoder = decode_events(chunks)
        assert events == [TextDelta("text.delta", text="a")]
        assert decoder.problem is not None
        assert decoder.unfinished is False


@pytest.mark.parametrize("space", [" ", "\t", "\n", " \r\n\t "], ids=repr)
def test_white_space_around_an_object(space: str) -> None:
    """JSON may have white space around it, even over several data lines."""
    data = f'{space}{{"type":"text.delta","text":"a"}}{space}'.replace("\r\n", "\n").replace("\n", "\ndata: ")
    assert decode_events([f"data: {data}\n\n".encode()])[0] == [TextDelta("text.delta", text="a")]


@pytest.mark.parametrize("rest", [b"data: {}\n", b"event: done\r\n", b"d"])
def test_a_last_frame_without_its_blank_line_is_no_event(rest: bytes) -> None:
    """A last frame without its blank line is not an event, but the stream is known to be unfinished."""
    events, decoder = decode_events([RUN_DONE + rest])
    assert [event.type for event in events] == ["run.done"]
    assert decoder.problem is None
    assert decoder.unfinished is True
