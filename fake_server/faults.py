"""What a script can break, as data: the names of the faults, their parameters, and how often each has struck."""

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal, Protocol, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fake_server.fields import Duration, Json, Part, Text, as_list

ANSWERS: dict[str, set[str]] = {
    "unauthorized": set(),
    "forbidden": set(),
    "rate-limited": {"retry_after"},
    "server-error": set(),
    "unavailable": {"retry_after"},
    "status": {"status", "body", "headers"},
    "html": set(),
    "redirect": {"location"},
}
"""Answers instead of a stream, as a proxy in front of the agent gives them: the turn never starts."""

BODIES: dict[str, set[str]] = {
    "no-headers": {"for"},
    "silence": {"after", "for"},
    "cut": {"after", "before_headers"},
    "reset": {"after", "before_headers"},
    "half-frame": {"after"},
    "byte-at-a-time": set(),
    "slow": {"every"},
    "buffered": set(),
    "compressed": set(),
    "wrong-content-type": {"content_type"},
}
"""Faults in the delivery of any body, stream or not; a turn runs to its end whatever the client receives."""

FRAMES: dict[str, set[str]] = {
    "keep-alives": {"after", "every", "for"},
    "not-json": {"after"},
    "invalid-utf8": {"after"},
    "huge-frame": {"after", "size"},
    "no-run-done": set(),
    "no-done": set(),
    "no-last-blank-line": set(),
}
"""Faults in the frames of an event stream."""

ORDER: dict[str, set[str]] = {
    "seq-gap": {"after"},
    "seq-repeat": {"after"},
    "newer-version": set(),
    "crossed": {"after"},
    "unknown-call": {"after"},
    "no-step-done": {"after"},
    "second-run-done": set(),
    "event-after-done": set(),
    "endless": {"after", "every"},
}
"""Faults in the events of a run: each frame is valid, but together they break the protocol."""

STREAMS = {**BODIES, **FRAMES, **ORDER}
"""Faults in a stream: everything that can go wrong with a turn once it has started."""

PARAMETERS = {**ANSWERS, **STREAMS}

_COMMON_PARAMETERS = {"times", "request"}


class Fault(Part):
    """One thing that goes wrong on the way to the client.

    `after` is how many events are sent whole before it strikes, `times` how many requests it strikes,
    `request` limits it to turns (`chat`) or to decisions (`approval`), `size` is in bytes.
    """

    name: Text
    times: int | None = Field(default=None, ge=1)
    request: Literal["chat", "approval"] | None = None
    after: int = Field(default=0, ge=0)
    for_s: Duration = Field(default=float("inf"), alias="for")
    every: Duration = 0.05
    before_headers: bool = False
    retry_after: int | Text | None = None
    status: int = Field(default=500, ge=200, le=599)
    headers: dict[str, Text] = Field(default_factory=dict)
    body: Json = ""
    size: int = Field(default=32 * 1024 * 1024, ge=1)
    location: Text = "/login"
    content_type: Text = "text/plain"

    @model_validator(mode="after")
    def _has_only_its_own_parameters(self) -> Self:
        if self.name not in PARAMETERS:
            near = difflib.get_close_matches(self.name, PARAMETERS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Valid: {', '.join(sorted(PARAMETERS))}"
            raise ValueError(f"unknown fault {self.name!r}. {hint}")
        given = {"for" if key == "for_s" else key for key in self.model_fields_set} - {"name"}
        valid = PARAMETERS[self.name] | _COMMON_PARAMETERS
        if wrong := sorted(given - valid):
            raise ValueError(f"fault {self.name!r} takes no {wrong[0]!r}, only {', '.join(sorted(valid))}")
        return self

    def applies_to(self, request: str) -> bool:
        """Return whether the fault is meant for a `request` of this kind."""
        return self.request in (None, request)


def _expand_names(value: object) -> object:
    return [{"name": item} if isinstance(item, str) else item for item in as_list(value)]


def _check_no_run(faults: list[Fault]) -> list[Fault]:
    valid = ANSWERS | BODIES
    for fault in faults:
        if fault.name not in valid:
            raise ValueError(f"fault {fault.name!r} is only for runs. Valid here: {', '.join(sorted(valid))}")
        if fault.request:
            raise ValueError(f"fault {fault.name!r} takes no 'request' here: only the faults of runs do")
    return faults


Faults = Annotated[list[Fault], BeforeValidator(_expand_names)]
"""What can go wrong with a run."""

BodyFaults = Annotated[Faults, AfterValidator(_check_no_run)]
"""What can go wrong with an answer that is not a run."""


class HasTimes(Protocol):
    """An item that is used for `times` requests, or for all of them if that is None."""

    @property
    def times(self) -> int | None:
        """The number of requests."""


T = TypeVar("T", bound=HasTimes)


class TimesCounter:
    """Counts how often each item was used since the server started; equal items are counted separately."""

    def __init__(self) -> None:
        self._used: Counter[int] = Counter()

    def take(self, items: Iterable[T]) -> T | None:
        """Count and return the first item that is not used up, or None if all are."""
        for item in items:
            if item.times is None or self._used[id(item)] < item.times:
                self._used[id(item)] += 1
                return item
        return None
