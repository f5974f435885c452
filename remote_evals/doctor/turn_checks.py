"""Observes a turn's stream, and checks how its events came and what its run contains.

A recording holds no text of the agent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx

from ..core.durations import render_duration
from ..protocols.events import Event, StreamEnd
from ..results import RunResult, Timing, describe_end
from .findings import Finding, failed, not_checked, passed, warned

_MOST_WARNINGS = 3
_MOST_TOOLS = 5


def check_order(run: RunResult) -> Finding:
    """Check whether the events came in the protocol's order."""
    if not run.warnings:
        return passed("order", "the events came in the protocol's order")
    more = len(run.warnings) - _MOST_WARNINGS
    shown = "; ".join(run.warnings[:_MOST_WARNINGS]) + (f"; and {more} more" if more > 0 else "")
    advice = "Check the versions of the deployment's server and of the proxies in front of it"
    return warned("order", shown, advice, warnings=list(run.warnings))


def check_end(run: RunResult) -> Finding:
    """Check whether the run ended normally, has a reply, and called no tools, since the prompt needs none."""
    values = {"finish_reason": run.finish_reason, "tools": [call.name for call in run.tool_calls]}
    if not run.ended_normally:
        return failed("end", describe_end(run), "Look for the run in the deployment's logs", **values)
    if run.tool_calls:
        names = list(dict.fromkeys(call.name for call in run.tool_calls))
        happened = f"finish reason was 'stop', but the agent called {', '.join(names[:_MOST_TOOLS])}"
        advice = "Give a prompt that needs no tools with --prompt, and see what those calls did"
        return warned("end", happened, advice, **values)
    if not run.reply.strip():
        advice = "Look for the run in the deployment's logs: assertions on the reply have nothing to check"
        return warned("end", "finish reason was 'stop', but the reply is empty", advice, **values)
    return passed("end", "finish reason was 'stop'", **values)


def check_usage(run: RunResult) -> Finding:
    """Check whether the deployment reports token usage."""
    if run.usage is None:
        happened, advice = "run.done has no usage", "Make the deployment report it: without it, max_tokens fails"
        return warned("usage", happened, advice)
    used = run.usage
    estimated = ", which the deployment estimates" if used.estimated else ""
    happened = f"{used.input_tokens} tokens in, {used.output_tokens} out{estimated}"
    return passed("usage", happened, **used.model_dump(exclude={"cost_usd", "model_calls"}))


def check_cost(run: RunResult) -> Finding:
    """Check whether the deployment reports the cost."""
    if run.usage is None or run.usage.cost_usd is None:
        advice = "Make the deployment report costUsd, or set unknown_cost: skip in suites that limit the cost"
        return warned("cost", "run.done has no cost, so max_cost_usd fails", advice)
    return passed("cost", f"${run.usage.cost_usd:.6f}", cost_usd=run.usage.cost_usd)


@dataclass(frozen=True, slots=True)
class Arrival:
    """When an event came, and when its timestamp says it was produced: milliseconds, each on its own clock."""

    at_ms: float
    produced_ms: float | None


@dataclass(slots=True)
class Recording:
    """The answer to one POST, with secrets removed from its headers; times are milliseconds after the POST was sent.

    `http_version` is like "1.1", or None if the connection does not report it.
    """

    status: int
    content_type: str
    content_encoding: str
    http_version: str | None
    arrivals: list[Arrival] = field(default_factory=list)
    keep_alives_ms: list[float] = field(default_factory=list)


class Recorder:
    """Records the answers to all POSTs of a session, in order; a `targets.stream_reader.StreamObserver`."""

    def __init__(self, scrub: Callable[[str], str], read_timestamp: Callable[[Event], float | None]) -> None:
        self.recordings: list[Recording] = []
        self._scrub = scrub
        self._read_timestamp = read_timestamp

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        """Start the recording of an answer."""
        headers = response.headers
        recording = Recording(
            response.status_code,
            self._scrub(headers.get("content-type", "")),
            self._scrub(headers.get("content-encoding", "")),
            _read_version(response),
        )
        self.recordings.append(recording)

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        """Record when the events came, and the keep-alives since the last call."""
        recording = self.recordings[-1]
        recording.keep_alives_ms += [at_ms] * (comments - len(recording.keep_alives_ms))
        for event in events:
            if not isinstance(event, StreamEnd):
                recording.arrivals.append(Arrival(at_ms, self._read_timestamp(event)))


def _read_version(response: httpx.Response) -> str | None:
    # httpx-aiohttp always reports HTTP/1.1; the aiohttp response inside has the real version.
    below: Any = getattr(response.stream, "_aiohttp_response", None)
    version = getattr(below, "version", None)
    return f"{version.major}.{version.minor}" if version else None


# Events of a shorter run are too close together to tell whether they were held back.
MIN_SPAN_MS = 300.0
MAX_HELD_MS = 1000.0
# Common proxies close a connection that has been silent for 30 seconds or more.
MAX_SILENCE_MS = 20_000.0


def check_http(recording: Recording) -> Finding:
    """Check whether the stream came over HTTP/1.1."""
    if recording.http_version is None:
        return not_checked("http", "the connection does not report its version")
    version = f"HTTP/{recording.http_version}"
    if recording.http_version == "1.0":
        happened = f"{version}: a stream that was cut off looks like one that ended"
        advice = "Make the deployment, or the proxy in front of it, answer with HTTP/1.1 in chunks"
        return warned("http", happened, advice, version=version)
    return passed("http", version, version=version)


def check_compression(recording: Recording) -> Finding:
    """Check whether the stream is compressed, although no request accepts compression."""
    encoding = recording.content_encoding.strip()
    if encoding.lower() in ("", "identity"):
        return passed("compression", "the stream is not compressed")
    advice = "Turn compression off for text/event-stream, in the deployment or the proxy: it holds events back"
    return warned("compression", f"the stream is compressed as {encoding!r}", advice, content_encoding=encoding)


def check_streaming(recording: Recording) -> Finding:
    """Check whether events came as they were produced; the clocks of both sides need not agree."""
    stamped = [(one.at_ms, one.produced_ms) for one in recording.arrivals if one.produced_ms is not None]
    if len(stamped) < 2:
        return not_checked("streaming", "the events have no timestamps to compare their arrival with")
    produced = [produced_ms for _, produced_ms in stamped]
    span_ms = max(produced) - min(produced)
    if span_ms < MIN_SPAN_MS:
        return not_checked("streaming", f"the run took only {_show(span_ms)}, too short to tell")
    delays = [at_ms - produced_ms for at_ms, produced_ms in stamped]
    held_ms = max(delays) - min(delays)
    values = {"produced_span_ms": span_ms, "held_back_ms": held_ms}
    if held_ms < min(span_ms / 2, MAX_HELD_MS):
        return passed("streaming", f"{len(stamped)} events came as they were produced, over {_show(span_ms)}", **values)
    how = "all at the end" if held_ms >= 0.9 * span_ms else "in batches"
    happened = f"events came {how}: in a run of {_show(span_ms)}, some were held back for {_show(held_ms)}"
    advice = "Turn buffering off in the proxy (nginx: proxy_buffering off, or the header X-Accel-Buffering: no)"
    return warned("streaming", happened, f"{advice}; until then max_first_text_ms measures the proxy", **values)


def check_silence(recording: Recording) -> Finding:
    """Check how long no event came, and whether keep-alives filled the gap."""
    moments = [0.0, *(arrival.at_ms for arrival in recording.arrivals)]
    start, end = max(pairwise(moments), key=lambda gap: gap[1] - gap[0], default=(0.0, 0.0))
    inside = sum(start < at_ms <= end for at_ms in recording.keep_alives_ms)
    filled = f"with {inside} keep-alive(s) in it" if inside else "without a keep-alive in it"
    happened = f"the longest wait for an event was {_show(end - start)}, {filled}"
    values = {"longest_gap_ms": end - start, "keep_alives": inside}
    if end - start > MAX_SILENCE_MS and not inside:
        advice = "Send a comment line such as ': keep-alive' every 15 s: proxies close silent connections"
        return warned("silence", happened, advice, **values)
    return passed("silence", happened, **values)


def check_times(timing: Timing) -> Finding:
    """Report when headers, events and text came, without judging the times."""
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
