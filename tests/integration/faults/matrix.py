"""The fault matrix as data: what can go wrong, where in a conversation, and the expected outcome."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from fake_server.faults import PARAMETERS, Fault
from remote_evals import Limits
from remote_evals.core.durations import render_duration
from tests.serving.deployments import PATIENT

SHORT_S = 0.5
TOKEN = "t0ken-of-the-matrix"
ASKED, REPLY = "Let me look.", "It has shipped."

Timer = Literal["connect_s", "headers_s", "first_event_s", "silence_s", "turn_s"]
Request = Literal["the first turn", "a later turn", "a decision"]
Json = Mapping[str, Any]


def make_limits(timer: Timer | None) -> Limits:
    """Return limits of which only `timer` runs out soon."""
    return replace(PATIENT, **{timer: SHORT_S}) if timer else PATIENT


@dataclass(frozen=True)
class Moment:
    """How far a stream has come: `after` events, the last of them `event`, with the reply so far in `reply`."""

    after: int | None = None
    event: str = ""
    reply: str = ""


@dataclass(frozen=True)
class Place:
    """Where something goes wrong: in a turn, and in the continuation of a turn that waited for a decision."""

    name: str
    in_turn: Moment = Moment()
    in_decision: Moment = Moment(reply=ASKED)


NOWHERE = Place("nowhere")
CONNECTING = Place("while connecting")
HEADERS = Place("before the headers")
INSTEAD = Place("instead of a stream")
BETWEEN = Place("between turns")
WHOLE = Place("the whole stream")
FIRST = Place("before the first event", Moment(0), Moment(0, reply=ASKED))
TEXT = Place("in the text", Moment(3, "text.delta", "Let "), Moment(5, "text.delta", "It "))
TOOL = Place("in a tool call", Moment(7, "tool.start", ASKED), Moment(2, "tool.resume", ASKED))
END = Place("before `run.done`", Moment(15, "step.done", REPLY), Moment(9, "step.done", REPLY))
AFTER_END = Place("behind `run.done`", Moment(16), Moment(10))
IN_STREAM = (FIRST, TEXT, TOOL, END)


@dataclass(frozen=True)
class Outcome:
    """An expected outcome: `says` is a phrase of the error, of a failed check, or of a warning if all checks pass.

    In it {at}, {ended} and {event} stand for the moment, {status} for that of the fault and {limit} for that of the
    timer. `more` is a pattern for what the reply has after that of the moment.
    """

    status: Literal["passed", "failed", "error"]
    exit_code: int
    code: str | None = None
    says: str = ""
    tries: int = 1
    more: str = ""

    def phrase(self, moment: Moment, limit: str, status: object = "") -> str:
        """Return the phrase for a moment."""
        event = moment.event
        at, ended = (f"after {event}", f"after {event}") if event else ("before the first event", "without any event")
        return self.says.format(at=at, ended=ended, event=event, limit=limit, status=status)


def passes(says: str = "", *, tries: int = 1) -> Outcome:
    """Return the outcome of a run that is judged and good; `says` is the warning about what was unusual."""
    return Outcome("passed", 0, says=says, tries=tries)


def fails(says: str) -> Outcome:
    """Return the outcome of a run that is judged and bad."""
    return Outcome("failed", 1, says=says)


def breaks(code: str, says: str, *, tries: int = 1, more: str = "") -> Outcome:
    """Return the outcome of a run that cannot be judged."""
    return Outcome("error", 4, code, says, tries, more)


def refuses(says: str) -> Outcome:
    """Return the outcome of a run whose caller was rejected."""
    return Outcome("error", 3, "REMOTE_UNAUTHORIZED", says)


@dataclass(frozen=True)
class Entry:
    """Faults with one outcome at all `places`; `timer` is the limit that must run out, `script` changes the reply."""

    cause: str
    faults: tuple[Json, ...]
    places: tuple[Place, ...]
    outcome: Outcome
    timer: Timer | None = None
    script: Json | None = None

    def strikes(self) -> Iterator["Strike"]:
        """Yield every fault at every place of every request."""
        for fault in self.faults:
            for place in self.places:
                yield Strike(self, fault, place, "the first turn")
                yield Strike(self, fault, place, "a later turn")
                yield Strike(self, fault, place, "a decision")


@dataclass(frozen=True)
class Strike:
    """One fault, or none, at one place of one request of a conversation."""

    entry: Entry
    fault: Json
    place: Place
    request: Request

    def __str__(self) -> str:
        name = self.fault.get("name", self.entry.cause)
        parameters = [f"{key}={value}" for key, value in self.fault.items() if key != "name"]
        return ", ".join([" ".join([name, *parameters]), self.place.name.replace("`", ""), self.request])

    @property
    def moment(self) -> Moment:
        """How far the stream has come."""
        return self.place.in_decision if self.request == "a decision" else self.place.in_turn

    @property
    def says(self) -> str:
        """The phrase of the outcome."""
        limit, status = render_duration(SHORT_S), self.fault.get("status", Fault.model_fields["status"].default)
        return self.entry.outcome.phrase(self.moment, limit, status)

    @property
    def struck(self) -> list[Json]:
        """The fault as a script has it."""
        if not self.fault:
            return []
        kind = "approval" if self.request == "a decision" else "chat"
        takes_after = self.moment.after is not None and "after" in PARAMETERS[self.fault["name"]]
        return [{**self.fault, "request": kind, **({"after": self.moment.after} if takes_after else {})}]
