"""What the recorder keeps of a turn's stream."""

from collections.abc import Iterable
from types import SimpleNamespace

import httpx
import pytest

from remote_evals.doctor.turn_checks import Arrival, Recorder
from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.events import Event
from remote_evals.transport.limits import SizeLimits

FRAMES = (
    b'data: {"type":"a","timestamp":"2026-01-02T03:04:05.500Z"}\n\n: keep-alive\n\n'
    b'data: {"type":"b","timestamp":"2026-01-02T04:04:06.250+01:00"}\r\n\r\n:\r\n\r\n'
    b'data: {"type":"c","timestamp":"2026-01-02T03:04:07"}\n\nevent: done\ndata: {}\n\n'
)
MOMENTS = [1767323045500.0, 1767323046250.0, 1767323047000.0]


def record(chunks: Iterable[bytes], headers: dict[str, str] | None = None) -> Recorder:
    recorder = Recorder(lambda text: text.replace("secret", "[redacted]"), CHAT.read_timestamp)
    recorder.on_headers(httpx.Response(200, headers=headers), 1.0)
    decoder = CHAT.open_reader(str, SizeLimits().frame_bytes)
    for at_ms, chunk in enumerate(chunks, start=2):
        recorder.on_events(decoder.feed(chunk), decoder.comments, at_ms)
    return recorder


def test_events_are_noted_with_both_their_moments() -> None:
    """Each event has the arrival time of its chunk, and its timestamp, whatever its time zone."""
    (recording,) = record([FRAMES]).recordings
    assert recording.arrivals == [Arrival(2, moment) for moment in MOMENTS]
    assert recording.keep_alives_ms == [2, 2]


def test_it_does_not_matter_where_the_bytes_are_cut() -> None:
    """A stream that arrives byte by byte gives the same events and keep-alives."""
    (recording,) = record(FRAMES[at : at + 1] for at in range(len(FRAMES))).recordings
    assert [arrival.produced_ms for arrival in recording.arrivals] == MOMENTS
    assert len(recording.keep_alives_ms) == 2


@pytest.mark.parametrize("timestamp", ['"soon"', "null", "17", '""', "{}"])
def test_a_timestamp_that_is_none(timestamp: str) -> None:
    """An event without a valid timestamp is recorded without one."""
    chunk = b'data: {"type":"a","timestamp":%b}\n\n' % timestamp.encode()
    (recording,) = record([chunk]).recordings
    assert recording.arrivals == [Arrival(2, None)]


def test_each_answer_is_a_recording_of_its_own() -> None:
    """Each turn of a session has its own recording, which starts without events and keep-alives."""
    recorder = record([b': one\n\n: two\n\ndata: {"type":"a"}\n\n'])
    recorder.on_headers(httpx.Response(200), 1.0)
    recorder.on_events([Event("b")], 1, 9)
    assert [recording.arrivals for recording in recorder.recordings] == [[Arrival(2, None)], [Arrival(9, None)]]
    assert [recording.keep_alives_ms for recording in recorder.recordings] == [[2, 2], [9]]


def test_headers_are_scrubbed() -> None:
    """A secret that a header echoes is redacted."""
    (recording,) = record([], {"content-type": "text/secret", "content-encoding": "secret"}).recordings
    assert (recording.content_type, recording.content_encoding) == ("text/[redacted]", "[redacted]")


def test_the_version_is_that_of_the_answer_below() -> None:
    """The HTTP version is that of the aiohttp response inside, or None without one."""
    response, recorder = httpx.Response(200), Recorder(str, CHAT.read_timestamp)
    recorder.on_headers(response, 1.0)
    response.stream._aiohttp_response = SimpleNamespace(version=SimpleNamespace(major=1, minor=0))  # type: ignore[union-attr]
    recorder.on_headers(response, 1.0)
    assert [recording.http_version for recording in recorder.recordings] == [None, "1.0"]
