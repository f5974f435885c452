"""What each exit code means; nothing else decides one.

0 all passed · 1 a gate failed, no case ran, or a report could not be written · 2 bad usage, suite or settings ·
3 no gate failed, but the deployment refused the token · 4 no gate failed, but a case could not be judged ·
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

    `reports_written` says whether every report that was asked for is on disk. With `min_pass_rate`, the share of all
    runs that passed decides instead of every gate. `interrupted_by` is the signal that came before all was done.
    """
    if interrupted_by is not None:
        return exit_code_of(interrupted_by)
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


def decide_checkup_exit_code(diagnosis: Diagnosis) -> int:
    """Return the exit code of a check-up that was not interrupted."""
    if diagnosis.error_code is not None:
        return UNAUTHORIZED if diagnosis.error_code == RemoteUnauthorizedError.code else UNJUDGED
    return PASSED if diagnosis.is_fit else FAILED


def decide_list_exit_code(evals: Sequence[Eval]) -> int:
    """Return the exit code of a list of evals: none at all is a failure, as a run of none is."""
    return PASSED if evals else FAILED


def exit_code_of(signal: int) -> int:
    """Return the exit code of a process that a signal ended, as shells have it."""
    return 128 + signal


def is_rate_reached(report: EvalReport, min_pass_rate: float) -> bool:
    """Return whether enough of all runs passed; where none did, no rate is reached, not even 0."""
    return report.pass_rate >= min_pass_rate and report.pass_rate > 0


def tell(*mistakes: str) -> None:
    """Write mistakes to stderr, a line each."""
    for mistake in mistakes:
        typer.echo(f"error: {mistake}", err=True)


def warn(remark: str) -> None:
    """Write to stderr what is dangerous and goes on all the same."""
    typer.echo(f"warning: {remark}", err=True)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn a `UsageError` into its message on stderr and exit code 2."""
    try:
        yield
    except SuiteError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from None
    except UsageError as error:
        tell(*str(error).splitlines())
        raise typer.Exit(USAGE) from None
