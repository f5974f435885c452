"""The options that say how cases are run, what fails them, and what is shown and written, each with its help."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..targets import Limits
from .options import read_duration


def _option(name: str, help_: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel="How cases are run", **more)


def _output(name: str, help_: str, metavar: str | None = None) -> Any:
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel="What is shown and written")


@dataclass(frozen=True, slots=True)
class RunningOptions:
    """How cases are run, and what fails them."""

    concurrency: Annotated[
        int | None, _option("--concurrency", "How many cases run at a time; 4 by default.", min=1, show_default=False)
    ] = None
    runs: Annotated[int | None, _option("--runs", "Run every case N times, before what suites say.", "N", min=1)] = None
    retries: Annotated[
        int | None,
        _option(
            "--retries",
            "How often a turn that surely never reached the agent is sent again; 2 by default, 0 for never.",
            "N",
            min=0,
            show_default=False,
        ),
    ] = None
    fail_fast: Annotated[bool, _option("--fail-fast", "Start nothing more once a case cannot pass.")] = False
    judge: Annotated[
        bool, _option("--judge", "Ask the judge, which costs money: grade rubrics, run *.judge.eval.* suites.")
    ] = False
    strict: Annotated[bool, _option("--strict", "Fail a case on soft assertions too.")] = False
    strict_protocol: Annotated[
        bool, _option("--strict-protocol", "Fail a case on whatever is odd in the protocol of its turns.")
    ] = False
    min_pass_rate: Annotated[
        float | None,
        _option(
            "--min-pass-rate", "Pass when this share of all runs does, 0 to 1, not every gate.", "RATE", min=0, max=1
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is shown and written."""

    json: Annotated[Path | None, _output("--json", "Write the results as JSON.", "PATH")] = None
    junit: Annotated[Path | None, _output("--junit", "Write the results as JUnit XML.", "PATH")] = None
    markdown: Annotated[
        Path | None, _output("--markdown", "Write the results as Markdown, for a pull request.", "PATH")
    ] = None
    save: Annotated[
        Path | None, _output("--save", "Keep the results as DIR/eval-<time>.json; without DIR, in results.", "[DIR]")
    ] = None
    quiet: Annotated[
        bool, _output("--quiet", "Show only the totals, and the cases of which there is something to say.")
    ] = False


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
