"""What a script can break, as data: the names of the faults and what each of them takes."""

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

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

STREAMS: dict[str, set[str]] = {
    "no-headers": {"for"},
    "silence": {"after", "for"},
    "keep-alives": {"after", "every", "for"},
    "cut": {"after"},
    "reset": {"after", "before_headers"},
    "not-json": {"after"},
    "half-frame": {"after"},
    "no-run-done": set(),
    "byte-at-a-time": set(),
    "wrong-content-type": {"content_type"},
}
"""Faults of the stream: the turn starts once there are headers, and runs to its end whatever the client gets."""

PARAMETERS = {**ANSWERS, **STREAMS}


class Fault(BaseModel):
    """One thing that goes wrong on the way to the client.

    `after` counts events sent whole before it goes wrong, `times` the requests it hits before all is well,
    `request` narrows it to turns (`chat`) or to decisions (`approval`).
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
    location: Text = "/login"
    content_type: Text = "text/plain"

    @model_validator(mode="after")
    def _takes_its_own_parameters(self) -> Self:
        if self.name not in PARAMETERS:
            near = difflib.get_close_matches(self.name, PARAMETERS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"unknown fault {self.name!r}.{hint} Valid: {', '.join(sorted(PARAMETERS))}")
        given = {"for" if key == "for_s" else key for key in self.model_fields_set} - {"name"}
        valid = PARAMETERS[self.name] | _ANY
        if wrong := sorted(given - valid):
            raise ValueError(f"fault {self.name!r} takes no {wrong[0]!r}, only {', '.join(sorted(valid))}")
        return self


def _as_list(value: object) -> object:
    if value is None:
        return []
    return [{"name": one} if isinstance(one, str) else one for one in (value if isinstance(value, list) else [value])]


Faults = Annotated[list[Fault], BeforeValidator(_as_list)]


class FaultCounter:
    """How often each fault has struck since the server started."""

    def __init__(self) -> None:
        self._strikes: Counter[int] = Counter()

    def take(self, faults: Iterable[Fault], request: str) -> Fault | None:
        """Return the first fault that still strikes a `request` of this kind, and count the strike."""
        for fault in faults:
            worn_out = fault.times is not None and self._strikes[id(fault)] >= fault.times
            if not worn_out and fault.request in (None, request):
                self._strikes[id(fault)] += 1
                return fault
        return None
