"""What a run shows and writes: progress on stderr, the summary on stdout, reports on disk."""

from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console

from ..redaction import Redactor
from ..reporters import (
    QuietProgress,
    open_progress,
    print_summary,
    render_json_report,
    render_junit,
    scrub_report,
    write_report,
)
from ..results import EvalReport


def open_listener(redactor: Redactor, *, quiet: bool) -> QuietProgress:
    """Return the progress view, a context manager, that fits stderr."""
    return open_progress(Console(stderr=True), redactor, quiet=quiet)


def show_report(report: EvalReport, redactor: Redactor) -> None:
    """Print the summary."""
    print_summary(report, Console(), redactor)


def write_reports(report: EvalReport, redactor: Redactor, *, json: Path | None, junit: Path | None) -> bool:
    """Write the reports that were asked for; say whether all are on disk, and on stderr which are not."""
    scrubbed = scrub_report(report, redactor)
    wanted: list[tuple[Path | None, Callable[[EvalReport], str]]] = [(json, render_json_report), (junit, render_junit)]
    written = [_write(path, render(scrubbed), redactor) for path, render in wanted if path]
    return all(written)


def _write(path: Path, text: str, redactor: Redactor) -> bool:
    try:
        write_report(path, text, redactor)
    except OSError as error:
        typer.echo(f"error: the report {path} could not be written: {error.strerror}", err=True)
        return False
    return True
