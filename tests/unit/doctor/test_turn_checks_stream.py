"""The findings on a turn's stream."""

from collections.abc import Sequence

import pytest

from remote_evals.doctor.turn_checks import (
    Arrival,
    Recording,
    check_compression,
    check_http,
    check_silence,
    check_streaming,
    check_times,
)
from remote_evals.results import Timing


def recording(
    *moments: tuple[float, float | None],
    version: str | None = "1.1",
    encoding: str = "",
    keep_alives_ms: Sequence[float] = (),
) -> Recording:
    arrivals = [Arrival(at_ms, produced_ms) for at_ms, produced_ms in moments]
    return Recording(200, "text/event-stream", encoding, version, arrivals, list(keep_alives_ms))


@pytest.mark.parametrize(
    ("version", "status", "happened"),
    [
        ("1.1", "pass", "HTTP/1.1"),
        ("1.0", "warn", "HTTP/1.0: a stream that was cut off looks like one that ended"),
        (None, "not_checked", "the connection does not report its version"),
    ],
)
def test_the_version_of_http(version: str | None, status: str, happened: str) -> None:
    """HTTP/1.0 is a warning, because a truncated stream looks complete without chunks."""
    found = check_http(recording(version=version))
    assert (found.status, found.happened) == (status, happened)


@pytest.mark.parametrize(
    ("encoding", "status"), [("", "pass"), ("identity", "pass"), (" Identity ", "pass"), ("gzip", "warn")]
)
def test_compression_is_a_warning(encoding: str, status: str) -> None:
    """A compressed stream is a warning, because compression delays events."""
    assert check_compression(recording(encoding=encoding)).status == status


def test_a_compressed_stream_names_its_encoding() -> None:
    """The finding quotes the encoding."""
    assert check_compression(recording(encoding="gzip")).happened == "the stream is compressed as 'gzip'"


@pytest.mark.parametrize("skew_ms", [0, 1.7e12, -5_000], ids=["same clock", "since 1970", "behind"])
def test_events_that_come_as_they_are_produced(skew_ms: float) -> None:
    """The deployment's clock may differ from ours, because only differences in time count."""
    found = check_streaming(recording(*((at_ms + 20, at_ms + skew_ms) for at_ms in (0, 300, 600, 900))))
    assert (found.status, found.happened) == ("pass", "4 events came as they were produced, over 900ms")


def test_events_that_come_all_at_the_end() -> None:
    """A stream that was buffered to its end is a warning."""
    found = check_streaming(recording(*((1_000, at_ms) for at_ms in (0, 300, 600, 900))))
    assert found.status == "warn"
    assert found.happened == "events came all at the end: in a run of 900ms, some were held back for 900ms"
    assert "proxy_buffering" in found.advice
    assert found.values == {"produced_span_ms": 900, "held_back_ms": 900}


def test_events_that_come_in_batches() -> None:
    """Events of a long run that are held back for a second or more are a warning."""
    moments = [(float(-(-at_ms // 2_000) * 2_000), float(at_ms)) for at_ms in range(100, 10_000, 300)]
    found = check_streaming(recording(*moments))
    assert found.status == "warn"
    assert found.happened == "events came in batches: in a run of 9.6s, some were held back for 1.9s"


def test_a_jitter_is_no_buffering() -> None:
    """A stream whose events are only slightly late passes."""
    assert check_streaming(recording((0, 0), (400, 300), (700, 600), (900, 900))).status == "pass"


@pytest.mark.parametrize(
    ("moments", "why"),
    [
        ([(10.0, 0.0), (11.0, 200.0)], "the run took only 200ms, too short to tell"),
        ([(10.0, None), (900.0, None)], "the events have no timestamps to compare their arrival with"),
        ([(10.0, 5.0)], "the events have no timestamps to compare their arrival with"),
        ([], "the events have no timestamps to compare their arrival with"),
    ],
    ids=["too short", "no timestamps", "one event", "none"],
)
def test_what_says_nothing_about_buffering(moments: list[tuple[float, float | None]], why: str) -> None:
    """Without two timestamps far enough apart, buffering is not checked."""
    found = check_streaming(recording(*moments))
    assert (found.status, found.happened) == ("not_checked", why)


def test_the_longest_gap_counts_its_keep_alives() -> None:
    """The finding counts the keep-alives in the longest gap, which may start with the request."""
    found = check_silence(recording((9_000, None), (9_500, None), keep_alives_ms=[100, 5_000, 9_000, 9_400]))
    assert (found.status, found.happened) == (
        "pass",
        "the longest wait for an event was 9.0s, with 3 keep-alive(s) in it",
    )


@pytest.mark.parametrize(("keep_alives_ms", "status"), [([], "warn"), ([15_000.0], "pass")])
def test_a_long_silence_without_keep_alives_is_a_warning(keep_alives_ms: list[float], status: str) -> None:
    """A long silence is a warning, unless keep-alives came in it."""
    assert check_silence(recording((30_000, None), keep_alives_ms=keep_alives_ms)).status == status


def test_a_stream_without_events_has_no_gap() -> None:
    """A stream without events has a longest gap of 0."""
    assert check_silence(recording()).values["longest_gap_ms"] == 0


def test_the_times_are_told() -> None:
    """The finding shows each time that was measured, and its values hold all of them."""
    found = check_times(Timing(headers_ms=12, first_event_ms=1_900, total_ms=2_000))
    assert (found.status, found.happened) == ("pass", "headers after 12ms, first event after 1.9s, end after 2.0s")
    assert found.values == {"headers_ms": 12, "first_event_ms": 1_900, "first_text_ms": None, "total_ms": 2_000}
