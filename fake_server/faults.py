"""What a script can break, as data: the names of the faults and what each of them takes."""

import difflib
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fake_server._values import Duration, Json, Text

_ANY = {"times", "request"}

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
"""Answers in place of a stream, as a proxy in front gives them: the turn never starts."""

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
"""Faults on the way of any body, be it a stream or not; a turn runs to its end whatever the client gets."""

FRAMES: dict[str, set[str]] = {
    "keep-alives": {"after", "every", "for"},
    "not-json": {"after"},
    "invalid-utf8": {"after"},
    "huge-frame": {"after", "size"},
    "no-run-done": set(),
    "no-done": set(),
    "no-last-blank-line": set(),
}
"""Faults of the frames of an event stream."""

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
"""Faults of the events of a run: each frame is right, together they are not what the protocol says."""

STREAMS = {**BODIES, **FRAMES, **ORDER}
"""Faults of a stream: all that can befall a turn once it has started."""

PARAMETERS = {**ANSWERS, **STREAMS}


class Fault(BaseModel):
    """One thing that goes wrong on the way to the client.

    `after` counts events sent whole before it goes wrong, `times` the requests it hits before all is well,
    `request` narrows it to turns (`chat`) or to decisions (`approval`), `size` is in bytes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    times: int | None = Field(default=None, ge=1)
    request: Literal["chat", "approval"] | None = None
    after: int = Field(default=0, ge=0)
    for_s: Duration = Field(default=float("inf"), alias="for")
    every: Duration = 0.05
    before_headers: bool = False
    retry_after: int | Text | None = None
    status: int = Field(default=500, ge=200, le=599)
    headers: dict[str, Text] = {}
    body: Json = ""
    size: int = Field(default=32 * 1024 * 1024, ge=1)
    location: Text = "/login"
    content_type: Text = "text/plain"

    @model_validator(mode="after")
    def _takes_its_own_parameters(self) -> Self:
        if self.name not in PARAMETERS:
            near = difflib.get_close_matches(self.name, PARAMETERS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Valid: {', '.join(sorted(PARAMETERS))}"
            raise ValueError(f"unknown fault {self.name!r}. {hint}")
        given = {"for" if key == "for_s" else key for key in self.model_fields_set} - {"name"}
        valid = PARAMETERS[self.name] | _ANY
        if wrong := sorted(given - valid):
            raise ValueError(f"fault {self.name!r} takes no {wrong[0]!r}, only {', '.join(sorted(valid))}")
        return self

    def may_strike(self, request: str) -> bool:
        """Tell whether it is meant for a `request` of this kind."""
        return self.request in (None, request)


def _as_list(value: object) -> object:
    if value is None:
        return []
    return [{"name": one} if isinstance(one, str) else one for one in (value if isinstance(value, list) else [value])]


def _check_no_run(faults: list[Fault]) -> list[Fault]:
    valid = ANSWERS | BODIES
    for fault in faults:
        if fault.name not in valid:
            raise ValueError(f"fault {fault.name!r} is one of runs. Valid here: {', '.join(sorted(valid))}")
        if fault.request:
            raise ValueError(f"fault {fault.name!r} takes no 'request' here: only the faults of runs do")
    return faults


Faults = Annotated[list[Fault], BeforeValidator(_as_list)]
"""What can go wrong with a run."""

BodyFaults = Annotated[Faults, AfterValidator(_check_no_run)]
"""What can go wrong with an answer that is no run."""
