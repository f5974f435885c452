"""What a run shows and writes: progress on stderr, the summary on stdout, reports on disk."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from ..errors import UsageError
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
from ._exit import tell


def open_listener(redactor: Redactor, *, quiet: bool) -> QuietProgress:
    """Return the progress view, a context manager, that fits stderr."""
    return open_progress(Console(stderr=True), redactor, quiet=quiet)


def show_report(report: EvalReport, redactor: Redactor, *, quiet: bool) -> None:
    """Print the summary; a quiet one leaves out the cases of which there is nothing to say."""
    print_summary(report, Console(), redactor, quiet=quiet)


class Reports:
    """The reports that were asked for. Raises `UsageError` when two would go to one file."""

    def __init__(self, *, json: Path | None, junit: Path | None) -> None:
        renderers: list[tuple[Path | None, Callable[[EvalReport], str]]] = [
            (json, render_json_report),
            (junit, render_junit),
        ]
        self._wanted = [(path, render) for path, render in renderers if path is not None]
        if len({path.resolve() for path, _ in self._wanted}) < len(self._wanted):
            raise UsageError("two reports were asked for in one file; give each its own")

    def write(self, report: EvalReport, redactor: Redactor) -> bool:
        """Write them all; say whether all are on disk, and on stderr which are not."""
        scrubbed = scrub_report(report, redactor)
        written = [_write(path, render(scrubbed)) for path, render in self._wanted]
        return all(written)


def _write(path: Path, text: str) -> bool:
    try:
        write_report(path, text)
    except OSError as error:
        tell(f"the report {path} could not be written: {error.strerror}")
        return False
    return True
