"""What there is to say of the stream of a turn: how it came, whatever it said."""

from itertools import pairwise

from ..core.durations import render_duration
from ..results import Timing
from ._finding import Finding, not_checked, passed, warned
from ._recording import Recording

# Below it, the moments of a run lie too close together to tell who held them back.
MIN_SPAN_MS = 300.0
MAX_HELD_MS = 1000.0
# The proxies in use cut off what is silent for 30 seconds and more.
MAX_SILENCE_MS = 20_000.0


def check_http(recording: Recording) -> Finding:
    """Say which HTTP the stream came over."""
    if recording.http_version is None:
        return not_checked("http", "the connection does not tell its version")
    version = f"HTTP/{recording.http_version}"
    if recording.http_version == "1.0":
        happened = f"{version}: a stream that was cut off looks like one that ended"
        advice = "Let the deployment, or the proxy before it, answer with HTTP/1.1 in chunks"
        return warned("http", happened, advice, version=version)
    return passed("http", version, version=version)


def check_compression(recording: Recording) -> Finding:
    """Say whether somebody compressed the stream, which nobody asked for."""
    encoding = recording.content_encoding.strip()
    if encoding.lower() in ("", "identity"):
        return passed("compression", "the stream is not compressed")
    advice = "Turn compression off for text/event-stream, in the deployment or the proxy: it holds events back"
    return warned("compression", f"the stream is compressed as {encoding!r}", advice, content_encoding=encoding)


def check_streaming(recording: Recording) -> Finding:
    """Say whether events came as they were produced: the clocks of both sides need not agree."""
    stamped = [(one.at_ms, one.produced_ms) for one in recording.arrivals if one.produced_ms is not None]
    if len(stamped) < 2:
        return not_checked("streaming", "the events have no timestamps to compare their arrival with")
    produced = [produced_ms for _, produced_ms in stamped]
    span_ms = max(produced) - min(produced)
    if span_ms < MIN_SPAN_MS:
        return not_checked("streaming", f"the run took only {_show(span_ms)}, too little to tell")
    delays = [at_ms - produced_ms for at_ms, produced_ms in stamped]
    held_ms = max(delays) - min(delays)
    values = {"produced_span_ms": span_ms, "held_back_ms": held_ms}
    if held_ms < min(span_ms / 2, MAX_HELD_MS):
        return passed("streaming", f"{len(stamped)} events came as they were produced, over {_show(span_ms)}", **values)
    how = "all at the end" if held_ms >= 0.9 * span_ms else "in batches"
    happened = f"events came {how}: of a run of {_show(span_ms)}, some were held back for {_show(held_ms)}"
    advice = "Turn buffering off in the proxy (nginx: proxy_buffering off, or the header X-Accel-Buffering: no)"
    return warned("streaming", happened, f"{advice}; until then max_first_text_ms measures the proxy", **values)


def check_silence(recording: Recording) -> Finding:
    """Say how long nothing came, and whether keep-alives filled the gap."""
    moments = [0.0, *(arrival.at_ms for arrival in recording.arrivals)]
    start, end = max(pairwise(moments), key=lambda gap: gap[1] - gap[0], default=(0.0, 0.0))
    inside = sum(start < at_ms <= end for at_ms in recording.keep_alives_ms)
    filled = f"with {inside} keep-alive(s) in it" if inside else "without a keep-alive in it"
    happened = f"the longest wait for an event was {_show(end - start)}, {filled}"
    values = {"longest_gap_ms": end - start, "keep_alives": inside}
    if end - start > MAX_SILENCE_MS and not inside:
        advice = "Send a comment line such as ': keep-alive' every 15 s: proxies cut off what is silent for long"
        return warned("silence", happened, advice, **values)
    return passed("silence", happened, **values)


def check_times(timing: Timing) -> Finding:
    """Say when things came, which is good or bad by no rule."""
    named = [
        ("headers", timing.headers_ms),
        ("first event", timing.first_event_ms),
        ("first text", timing.first_text_ms),
    ]
    shown = [f"{name} after {_show(at_ms)}" for name, at_ms in named if at_ms is not None]
    values = {f"{name.replace(' ', '_')}_ms": at_ms for name, at_ms in named}
    return passed(
        "times", ", ".join([*shown, f"end after {_show(timing.total_ms)}"]), **values, total_ms=timing.total_ms
    )


def _show(milliseconds: float) -> str:
    return render_duration(milliseconds / 1000)
