"""How a turn fails of which no library complains: a clock runs out, or the stream ends or goes on as no run does."""

from ..core.durations import render_duration
from ..errors import RemoteStreamError, RemoteTimeoutError
from ._clocks import Clock
from ._failures import WHY_BROKEN


def timed_out(clock: Clock, url: str, last_event: str | None) -> RemoteTimeoutError:
    """Return the error of a clock that ran out."""
    limit = render_duration(clock.limit_s)
    seen = f"the last event was {last_event}" if last_event else "no event had come"
    happened, advice = {
        "headers": (
            f"no response headers within {limit}",
            "The agent hangs, or a proxy holds the answer back; if it may take longer, raise --headers-timeout",
        ),
        "first event": (
            f"no event within {limit} after the headers",
            "The agent hangs, or a proxy holds it back; if it may take longer, raise --first-event-timeout",
        ),
        "silence": (
            f"no event for {limit}; {seen}",
            "The agent hangs, or a proxy holds the stream back; if it may take longer, raise --silence-timeout",
        ),
        "transcript": (
            f"no whole transcript within {limit} after the headers",
            "The deployment hangs, or a proxy holds the answer back; if it may take longer, raise --headers-timeout",
        ),
        "turn": (
            f"the turn was not done within {limit}; {seen}",
            "If it may take longer, raise --turn-timeout",
        ),
        "case": (
            f"the case was not done within {limit}; {seen}",
            "If it may take longer, raise its own timeout, or --timeout",
        ),
    }[clock.name]
    return RemoteTimeoutError(url, f"timed out: {happened}", advice, clock.name, last_event)


def ended_early(url: str, last_event: str | None, *, mid_frame: bool) -> RemoteStreamError:
    """Return the error of a stream that ended well-formed, but before `run.done`; `mid_frame` says where."""
    after = f"after {last_event}" if last_event else "without any event"
    where = ", in the middle of a frame" if mid_frame else ""
    return RemoteStreamError(url, f"the stream ended {after}{where}, before run.done", WHY_BROKEN)


def too_large(url: str, excess: str, *, what: str = "the stream") -> RemoteStreamError:
    """Return the error of an answer that goes on beyond all bounds; `excess` is what it has more of."""
    advice = "No run is that long: look at what the deployment, or a proxy before it, keeps sending"
    return RemoteStreamError(url, f"{what} has more than {excess}", advice)


def crossed(url: str) -> RemoteStreamError:
    """Return the error of a stream of two runs, of which nobody can tell which was asked for."""
    happened = "two runs came in one stream, and nothing tells which of them is the answer"
    return RemoteStreamError(
        url, happened, "A proxy may have crossed two answers: look at what stands before the agent"
    )


def ended_without_reason(url: str) -> RemoteStreamError:
    """Return the error of a `run.done` that does not say how the run ended, as that of another protocol would not."""
    advice = "Check that the deployment speaks the /chat protocol"
    return RemoteStreamError(url, "run.done came without a finishReason", advice)
