"""What a run prints and writes: progress on stderr, the summary on stdout, reports on disk."""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from ..config.settings import ReportSettings
from ..errors import UsageError
from ..evals.eval import Eval
from ..redaction import Redactor
from ..reporters import (
    REPORT_FORMATS,
    QuietProgress,
    append_text,
    escape_control_chars,
    open_progress,
    print_summary,
    render_annotations,
    render_markdown,
    save_report,
    scrub_report,
    write_report,
)
from ..results import EvalReport
from ..suites.discovery import find_suite_files, is_judged
from .exits import print_errors
from .run_options import OutputOptions

_ON_GITHUB = os.environ.get("GITHUB_ACTIONS") == "true"
_STEP_SUMMARY = os.environ.get("GITHUB_STEP_SUMMARY")


def open_listener(redactor: Redactor, *, quiet: bool) -> QuietProgress:
    """Return the progress view that fits stderr, as a context manager."""
    return open_progress(Console(stderr=True), redactor, quiet=quiet)


def print_skipped_suites(patterns: Sequence[str]) -> None:
    """Print on stderr which suites ask a judge, and so run only with `--judge`."""
    files, _ = find_suite_files(patterns)
    for file in files:
        if is_judged(file):
            typer.echo(f"note: {file} asks a judge, which costs money; it runs only with --judge", err=True)


def print_evals(evals: Sequence[Eval]) -> None:
    """Print each eval on a line, with its file and tags."""
    for eval_ in evals:
        tags = f"  [{', '.join(eval_.tags)}]" if eval_.tags else ""
        typer.echo(escape_control_chars(f"{eval_.file}: {eval_.name}{tags}"))


def print_report(report: EvalReport, redactor: Redactor, *, quiet: bool) -> None:
    """Print the summary. With `quiet`, it leaves out cases without warnings or failures."""
    print_summary(report, Console(), redactor, quiet=quiet)


def print_rate(report: EvalReport, min_pass_rate: float, *, reached: bool) -> None:
    """Print how the pass rate decided the exit code: a failed case in the summary may not have decided it."""
    passed, total = sum(result.passed for result in report.results), len(report.results)
    word = "reached" if reached else "missed"
    typer.echo(f"rate: {passed} of {total} runs passed, at least {min_pass_rate:.0%} required: {word}")


def print_annotations(report: EvalReport, redactor: Redactor) -> None:
    """On GitHub Actions, print an annotation for each failure."""
    if _ON_GITHUB:
        typer.echo(render_annotations(scrub_report(report, redactor)), nl=False)


@contextmanager
def workflow_fence() -> Iterator[None]:
    """On GitHub Actions, keep what is printed within the block from being read as workflow commands."""
    if not _ON_GITHUB:
        yield
        return
    token = secrets.token_hex(16)
    typer.echo(f"::stop-commands::{token}")
    try:
        yield
    finally:
        # The last output may not have ended its line.
        typer.echo(f"\n::{token}::")


class Reports:
    """The reports to write, as options request them, or else the settings.

    Raises `UsageError` if two reports would go to one file.
    """

    def __init__(self, output: OutputOptions, settings: ReportSettings) -> None:
        paths = {name: getattr(output, name) or settings.get_path(name) for name in REPORT_FORMATS}
        if Path("-") in paths.values():
            raise UsageError("`-` is not a file; write /dev/stdout for the standard output")
        self._requested = [(path, REPORT_FORMATS[name]) for name, path in paths.items() if path is not None]
        self._folder = output.save or settings.save_folder
        if len({path.resolve() for path, _ in self._requested}) < len(self._requested):
            raise UsageError("two reports would be written to one file; give each its own")

    def write(self, report: EvalReport, redactor: Redactor) -> bool:
        """Write all reports and return whether all are on disk. Those that are not are named on stderr."""
        scrubbed = scrub_report(report, redactor)
        written = [_try_write(path, partial(write_report, path, render(scrubbed))) for path, render in self._requested]
        if self._folder:
            written.append(_try_write(self._folder, partial(_save, scrubbed, self._folder)))
        if _ON_GITHUB and _STEP_SUMMARY:
            path = Path(_STEP_SUMMARY)
            written.append(_try_write(path, lambda: append_text(path, render_markdown(scrubbed))))
        return all(written)


def _save(report: EvalReport, folder: Path) -> None:
    typer.echo(f"saved {save_report(report, folder, datetime.now(UTC))}", err=True)


def _try_write(path: Path, write: Callable[[], object]) -> bool:
    try:
        write()
    except OSError as error:
        print_errors(f"the report {path} could not be written: {error.strerror}")
        return False
    return True
