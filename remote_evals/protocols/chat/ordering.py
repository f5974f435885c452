"""What is odd in the order of a run's events: nothing that keeps the run from being read, all of it worth knowing."""

from collections.abc import Callable

from ..events import Event, Frame

VERSION = 1

_LONGEST_QUOTE = 60


class StreamOrderChecker:
    """Notes what the `/chat` protocol, version 1, does not send. `scrub` takes secrets out of what is quoted.

    `has_gap` says that events were lost, so that what a run does not show may have been all the same; `is_ambiguous`
    that two runs came in one stream, of which either may be the one that was asked for.
    """

    def __init__(self, scrub: Callable[[str], str] = str) -> None:
        self._scrub = scrub
        self._first: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self.has_gap = False
        self.is_ambiguous = False
        self.begin_stream()

    def begin_stream(self) -> None:
        """Make ready for another stream of the same turn, whose numbering and run id are its own."""
        self._next_seq = 0
        self._run_id: object = None
        self._begins_with_start = False
        self._latest: object = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was odd, a sentence a kind without its full stop: the first of its kind, and how many more came."""
        more = {kind: f" (and {count - 1} more)" for kind, count in self._counts.items() if count > 1}
        return tuple(text + more.get(kind, "") for kind, text in self._first.items())

    def note(self, kind: str, text: str, *quoted: object) -> None:
        """Note something odd; where the far side is quoted, each `{}` of the text is filled with what it sent, cut."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if kind not in self._first:
            self._first[kind] = text.format(*map(self._quote, quoted)) if quoted else text

    def add(self, event: Event) -> bool:
        """Look at the numbering, the run and the version of the next event, and say whether it is of this run."""
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
            self.note("version", f"events are of version {{}}; {VERSION} is what is understood here", frame["v"])
        return True

    def is_of_the_run(self, event: Event) -> bool:
        """Say whether an event is of the run that the stream began with, and note one that is not."""
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
        self.note("crossed", text, self._run_id, run_id)
        # A stream that began in the middle of one run may be the other's: nobody can tell which was asked for.
        self.is_ambiguous = self.is_ambiguous or not self._begins_with_start
        return False

    def _is_sent_again(self, frame: Frame) -> bool:
        # By its number alone an event may only be numbered badly; the very same one twice is a matter of the way.
        if "seq" not in frame or frame != self._latest:
            return False
        self.note("again", "the event with the seq {} was sent again, and left out", frame["seq"])
        return True

    def _check_seq(self, seq: object) -> None:
        # Older servers, and agents in process, number nothing; what JSON cannot hold exactly is no number of an event.
        if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq < 2**53:
            return
        if seq > self._next_seq:
            self.has_gap, missing = True, seq - self._next_seq
            self.note("gap", f"seq {seq} came where {self._next_seq} was due: {missing} event(s) are missing")
        elif seq < self._next_seq:
            self.note("order", f"seq {seq} came where {self._next_seq} was due, which it should have come before")
        self._next_seq = max(self._next_seq, seq + 1)

    def _quote(self, value: object) -> str:
        # Scrubbed before it is cut: half a secret is no longer recognised.
        text = self._scrub(value if isinstance(value, str) else repr(value))
        shown = text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"
        return repr(shown) if isinstance(value, str) else shown
