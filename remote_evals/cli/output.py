"""What a run shows and writes: progress on stderr, the summary on stdout, reports on disk."""

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
from .exits import tell
from .run_options import OutputOptions

_ON_GITHUB = os.environ.get("GITHUB_ACTIONS") == "true"
_STEP_SUMMARY = os.environ.get("GITHUB_STEP_SUMMARY")


def open_listener(redactor: Redactor, *, quiet: bool) -> QuietProgress:
    """Return the progress view, a context manager, that fits stderr."""
    return open_progress(Console(stderr=True), redactor, quiet=quiet)


def note_left_out(patterns: Sequence[str]) -> None:
    """Say on stderr which suites ask a judge, and so run only with `--judge`."""
    files, _ = find_suite_files(patterns)
    for file in files:
        if is_judged(file):
            typer.echo(f"note: {file} asks a judge, which costs money; it runs only with --judge", err=True)


def show_evals(evals: Sequence[Eval]) -> None:
    """Print evals, one a line with file and tags."""
    for eval_ in evals:
        marks = f"  [{', '.join(eval_.tags)}]" if eval_.tags else ""
        typer.echo(escape_control_chars(f"{eval_.file}: {eval_.name}{marks}"))


def show_report(report: EvalReport, redactor: Redactor, *, quiet: bool) -> None:
    """Print the summary; a quiet one leaves out the cases of which there is nothing to say."""
    print_summary(report, Console(), redactor, quiet=quiet)


def show_rate(report: EvalReport, min_pass_rate: float, *, reached: bool) -> None:
    """Print how the rate decided, which may differ from what the rows say."""
    passed, total = sum(result.passed for result in report.results), len(report.results)
    word = "reached" if reached else "missed"
    typer.echo(f"rate: {passed} of {total} runs passed, at least {min_pass_rate:.0%} must: {word}")


def annotate(report: EvalReport, redactor: Redactor) -> None:
    """On GitHub Actions, annotate what failed."""
    if _ON_GITHUB:
        typer.echo(render_annotations(scrub_report(report, redactor)), nl=False)


@contextmanager
def workflow_fence() -> Iterator[None]:
    """On GitHub Actions, let nothing that is printed within be taken for a command to the workflow."""
    if not _ON_GITHUB:
        yield
        return
    token = secrets.token_hex(16)
    typer.echo(f"::stop-commands::{token}")
    try:
        yield
    finally:
        # What was printed last may not have ended its line.
        typer.echo(f"\n::{token}::")


class Reports:
    """The reports that were asked for, by options or else by settings.

    Raises `UsageError` when two would go to one file.
    """

    def __init__(self, output: OutputOptions, settings: ReportSettings) -> None:
        paths = {name: getattr(output, name) or settings.get_path(name) for name in REPORT_FORMATS}
        if Path("-") in paths.values():
            raise UsageError("`-` is no file; write /dev/stdout for the standard output")
        self._wanted = [(path, REPORT_FORMATS[name]) for name, path in paths.items() if path is not None]
        self._folder = output.save or settings.save_folder
        if len({path.resolve() for path, _ in self._wanted}) < len(self._wanted):
            raise UsageError("two reports were asked for in one file; give each its own")

    def write(self, report: EvalReport, redactor: Redactor) -> bool:
        """Write them all; say whether all are on disk, and on stderr which are not."""
        scrubbed = scrub_report(report, redactor)
        written = [_try(path, partial(write_report, path, render(scrubbed))) for path, render in self._wanted]
        if self._folder:
            written.append(_try(self._folder, partial(_save, scrubbed, self._folder)))
        if _ON_GITHUB and _STEP_SUMMARY:
            written.append(
                _try(Path(_STEP_SUMMARY), lambda: append_text(Path(_STEP_SUMMARY), render_markdown(scrubbed)))
            )
        return all(written)


def _save(report: EvalReport, folder: Path) -> None:
    typer.echo(f"saved {save_report(report, folder, datetime.now(UTC))}", err=True)


def _try(path: Path, write: Callable[[], object]) -> bool:
    try:
        write()
    except OSError as error:
        tell(f"the report {path} could not be written: {error.strerror}")
        return False
    return True
