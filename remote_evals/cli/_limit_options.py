"""The options that limit times, each with its help."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ..targets import Limits
from ._values import read_duration


def _limit(name: str, of: str) -> Any:
    panel = "Limits of time: 500ms, 30s, 10m"
    return typer.Option(name, metavar="DURATION", help=f"Limit of {of}; 0 for none.", rich_help_panel=panel)


@dataclass(frozen=True, slots=True)
class TurnLimitOptions:
    """How long a turn and each wait in it may take."""

    connect_timeout: Annotated[str | None, _limit("--connect-timeout", "connecting, 10s by default")] = None
    headers_timeout: Annotated[
        str | None, _limit("--headers-timeout", "the wait for response headers, 60s by default")
    ] = None
    first_event_timeout: Annotated[
        str | None, _limit("--first-event-timeout", "the wait for an event, 60s by default")
    ] = None
    silence_timeout: Annotated[
        str | None, _limit("--silence-timeout", "the wait between two events, 2m by default")
    ] = None
    turn_timeout: Annotated[str | None, _limit("--turn-timeout", "a turn, 10m by default")] = None

    def parse(self) -> Limits:
        """Return the limits: what is not given as by default, 0 as no limit. Raises `UsageError`."""
        given = {
            "connect_s": read_duration("--connect-timeout", self.connect_timeout),
            "headers_s": read_duration("--headers-timeout", self.headers_timeout),
            "first_event_s": read_duration("--first-event-timeout", self.first_event_timeout),
            "silence_s": read_duration("--silence-timeout", self.silence_timeout),
            "turn_s": read_duration("--turn-timeout", self.turn_timeout),
        }
        return Limits(**{name: limit_s or math.inf for name, limit_s in given.items() if limit_s is not None})


@dataclass(frozen=True, slots=True)
class RunLimitOptions:
    """How long a case and the whole run may take."""

    timeout: Annotated[str | None, _limit("--timeout", "a case with all its turns, 10m by default")] = None
    max_time: Annotated[str | None, _limit("--max-time", "the whole run, --wait included, none by default")] = None

    def parse(self) -> tuple[float | None, float | None]:
        """Return both limits in seconds, None for what is not given, 0 for no limit. Raises `UsageError`."""
        return read_duration("--timeout", self.timeout), read_duration("--max-time", self.max_time)
