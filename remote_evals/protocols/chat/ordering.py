"""The order of a `/chat` run's events: what is odd in it keeps no run from being read, and is worth a warning."""

from collections.abc import Callable

from ..base import StreamOrder
from ..events import Event, Frame

VERSION = 1


class StreamOrderChecker(StreamOrder):
    """Warns of what a server of the `/chat` protocol, version 1, never sends."""

    def __init__(self, scrub: Callable[[str], str] = str) -> None:
        super().__init__(scrub)
        self.begin_stream()

    def begin_stream(self) -> None:
        """Prepare for another stream of the same turn, whose numbering and run id are its own."""
        self._next_seq = 0
        self._run_id: object = None
        self._begins_with_start = False
        self._latest: object = None

    def add(self, event: Event) -> bool:
        """Check the numbering, the run and the version of the next event; return whether it belongs to the run."""
        frame = event.frame
        if frame.get("seq") == self._next_seq and frame.get("runId") == self._run_id and frame.get("v") == VERSION:
            self._next_seq += 1
            self._latest = frame
            return True
        if not self.is_of_the_run(event) or self._is_sent_again(frame):
            return False
        self._latest = frame
        self._check_seq(frame.get("seq"))
        if frame.get("v", VERSION) != VERSION:
            self.warn("version", f"events are of version {{}}; {VERSION} is what is understood here", frame["v"])
        return True

    def is_of_the_run(self, event: Event) -> bool:
        """Return whether an event is of the run that the stream began with, with a warning if it is not."""
        run_id = event.frame.get("runId")
        if self._run_id is None and not event.subagent:
            self._run_id = run_id
            self._begins_with_start = event.type == "run.start"
        if self._run_id is None:
            return True
        # A sub-agent may run under an id of its own.
        if run_id is None or run_id == self._run_id or event.subagent:
            return True
        text = "events of the run {1} came in the stream of {0} and were left out: a proxy may have crossed two answers"
        self.warn("crossed", text, self._run_id, run_id)
        # A stream that began in the middle of one run may be the other run's: nothing tells which was asked for.
        self.is_ambiguous = self.is_ambiguous or not self._begins_with_start
        return False

    def _is_sent_again(self, frame: Frame) -> bool:
        # A repeated number alone may be bad numbering; a repeated event was sent twice.
        if "seq" not in frame or frame != self._latest:
            return False
        self.warn("again", "the event with the seq {} was sent again, and left out", frame["seq"])
        return True

    def _check_seq(self, seq: object) -> None:
        # Older servers and in-process agents number nothing, and a number that JSON cannot hold exactly is none.
        if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq < 2**53:
            return
        if seq > self._next_seq:
            self.has_gap, missing = True, seq - self._next_seq
            self.warn("gap", f"seq {seq} came where {self._next_seq} was due: {missing} event(s) are missing")
        elif seq < self._next_seq:
            self.warn("order", f"seq {seq} came where {self._next_seq} was due, which it should have come before")
        self._next_seq = max(self._next_seq, seq + 1)
