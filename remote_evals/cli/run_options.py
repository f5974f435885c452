"""The options for how cases are run, what fails them, their time limits, and what is printed and written."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..targets import Limits
from .options import parse_duration_option


def _option(name: str, help_: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel="How cases are run", **more)


def _limit(name: str, help_: str) -> Any:
    panel = "Time limits, such as 500ms, 30s or 10m; 0 for no limit"
    return typer.Option(name, metavar="DURATION", help=help_, rich_help_panel=panel)


def _output(name: str, help_: str, metavar: str | None = None) -> Any:
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel="What is printed and written")


@dataclass(frozen=True, slots=True)
class RunningOptions:
    """How cases are run, and what fails them."""

    concurrency: Annotated[
        int | None,
        _option(
            "--concurrency",
            "Maximum number of cases to run at the same time. Default: 4.",
            "N",
            min=1,
            show_default=False,
        ),
    ] = None
    runs: Annotated[
        int | None,
        _option("--runs", "Run every case N times. Default: as often as its suite says, or once.", "N", min=1),
    ] = None
    retries: Annotated[
        int | None,
        _option(
            "--retries",
            "Maximum number of times to resend a request that the deployment never started. Default: 2; 0 to never "
            "resend.",
            "N",
            min=0,
            show_default=False,
        ),
    ] = None
    fail_fast: Annotated[
        bool, _option("--fail-fast", "Start no more cases once one cannot pass. Default: run all cases.")
    ] = False
    judge: Annotated[
        bool,
        _option(
            "--judge",
            "Ask the judge, which costs money: grade rubrics, and run *.judge.eval.* and *_judge_eval.py files. "
            "Default: skip both.",
        ),
    ] = False
    strict: Annotated[
        bool, _option("--strict", "Fail a case when one of its soft checks fails. Default: only show the failure.")
    ] = False
    strict_protocol: Annotated[
        bool,
        _option(
            "--strict-protocol",
            "Fail a case when its event stream breaks the protocol, such as by a gap in seq. Default: only show a "
            "warning.",
        ),
    ] = False
    min_pass_rate: Annotated[
        float | None,
        _option(
            "--min-pass-rate",
            "Pass if at least this share of all runs passes, from 0 to 1, such as 0.8. Default: all checks must pass.",
            "RATE",
            min=0,
            max=1,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class TurnLimitOptions:
    """Time limits of a turn and of each wait in it."""

    connect_timeout: Annotated[
        str | None, _limit("--connect-timeout", "Maximum time to connect (DNS, TCP and TLS). Default: 10s.")
    ] = None
    headers_timeout: Annotated[
        str | None, _limit("--headers-timeout", "Maximum time to wait for the response headers. Default: 60s.")
    ] = None
    first_event_timeout: Annotated[
        str | None,
        _limit("--first-event-timeout", "Maximum time to wait for the first event after the headers. Default: 60s."),
    ] = None
    silence_timeout: Annotated[
        str | None,
        _limit("--silence-timeout", "Maximum time between two events; keep-alives do not count. Default: 2m."),
    ] = None
    turn_timeout: Annotated[str | None, _limit("--turn-timeout", "Maximum time for a turn. Default: 10m.")] = None

    def parse(self) -> Limits:
        """Return the limits: the default for an option not given, none for 0. Raises `UsageError`."""
        given = {
            "connect_s": parse_duration_option("--connect-timeout", self.connect_timeout),
            "headers_s": parse_duration_option("--headers-timeout", self.headers_timeout),
            "first_event_s": parse_duration_option("--first-event-timeout", self.first_event_timeout),
            "silence_s": parse_duration_option("--silence-timeout", self.silence_timeout),
            "turn_s": parse_duration_option("--turn-timeout", self.turn_timeout),
        }
        return Limits(**{name: limit_s or math.inf for name, limit_s in given.items() if limit_s is not None})


@dataclass(frozen=True, slots=True)
class RunLimitOptions:
    """Time limits of a case and of the whole run."""

    timeout: Annotated[
        str | None,
        _limit("--timeout", "Maximum time for a case with all its turns, unless it sets its own. Default: 10m."),
    ] = None
    max_time: Annotated[
        str | None, _limit("--max-time", "Maximum time for the whole run, including --wait. Default: no limit.")
    ] = None

    def parse(self) -> tuple[float | None, float | None]:
        """Return both limits in seconds: None for an option not given, 0 for no limit. Raises `UsageError`."""
        timeout_s = parse_duration_option("--timeout", self.timeout)
        return timeout_s, parse_duration_option("--max-time", self.max_time)


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is printed and written."""

    json: Annotated[Path | None, _output("--json", "Write the results to PATH as JSON.", "PATH")] = None
    junit: Annotated[Path | None, _output("--junit", "Write the results to PATH as JUnit XML.", "PATH")] = None
    markdown: Annotated[
        Path | None, _output("--markdown", "Write the results to PATH as Markdown, for a pull request.", "PATH")
    ] = None
    save: Annotated[
        Path | None,
        _output("--save", "Save the results as DIR/eval-<time>.json. Without DIR, the folder is results.", "[DIR]"),
    ] = None
    quiet: Annotated[
        bool,
        _output(
            "--quiet",
            "Print only the totals and the cases that have warnings or failures. Default: print progress and every "
            "case.",
        ),
    ] = False
