"""Decides every exit code of the command, and prints errors and warnings on stderr.

0 all passed · 1 a check failed, no case ran, or a report could not be written · 2 bad usage, suite or settings ·
3 no check failed, but the deployment refused the token · 4 no check failed, but a case could not be judged ·
130 interrupted by Ctrl-C · 143 by SIGTERM.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from ..doctor import Diagnosis
from ..errors import RemoteUnauthorizedError, SuiteError, UsageError
from ..evals.eval import Eval
from ..results import EvalReport

PASSED, FAILED, USAGE, UNAUTHORIZED, UNJUDGED = 0, 1, 2, 3, 4


def decide_exit_code(
    report: EvalReport,
    *,
    reports_written: bool = True,
    min_pass_rate: float | None = None,
    interrupted_by: int | None = None,
) -> int:
    """Return the exit code of a run.

    `reports_written` is whether every requested report is on disk. With `min_pass_rate`, the share of all runs that
    passed decides, instead of every gate. `interrupted_by` is the signal that interrupted the run.
    """
    if interrupted_by is not None:
        return get_signal_exit_code(interrupted_by)
    if not report.results or not reports_written:
        return FAILED
    if min_pass_rate is not None and is_rate_reached(report, min_pass_rate):
        return PASSED
    if report.count("failed") or (min_pass_rate is not None and any(r.status == "failed" for r in report.results)):
        return FAILED
    if report.count("passed") == report.total_cases and min_pass_rate is None:
        return PASSED
    codes = {result.error.code for result in report.results if result.error}
    if RemoteUnauthorizedError.code in codes:
        return UNAUTHORIZED
    return UNJUDGED


def decide_doctor_exit_code(diagnosis: Diagnosis) -> int:
    """Return the exit code of `doctor`, unless a signal interrupted it."""
    if diagnosis.error_code is not None:
        return UNAUTHORIZED if diagnosis.error_code == RemoteUnauthorizedError.code else UNJUDGED
    return PASSED if diagnosis.is_fit else FAILED


def decide_list_exit_code(evals: Sequence[Eval]) -> int:
    """Return the exit code of a list of evals: an empty list is a failure, as an empty run is."""
    return PASSED if evals else FAILED


def get_signal_exit_code(number: int) -> int:
    """Return the exit code that shells report for a process ended by a signal."""
    return 128 + number


def is_rate_reached(report: EvalReport, min_pass_rate: float) -> bool:
    """Return whether enough of all runs passed. If no run passed, no rate is reached, not even 0."""
    return report.pass_rate >= min_pass_rate and report.pass_rate > 0


@contextmanager
def exit_on_usage_error() -> Iterator[None]:
    """Turn a `UsageError` into its message on stderr and exit code 2."""
    try:
        yield
    except SuiteError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from None
    except UsageError as error:
        print_errors(*str(error).splitlines())
        raise typer.Exit(USAGE) from None


def print_errors(*problems: str) -> None:
    """Print problems on stderr, one per line."""
    for problem in problems:
        typer.echo(f"error: {problem}", err=True)


def print_warning(warning: str) -> None:
    """Print a warning on stderr."""
    typer.echo(f"warning: {warning}", err=True)
