"""The report as text for people: a row a case, under it what they need to act on it, and the totals at the end.

Where one reason keeps many cases from being judged it is told once, under the first of them; those that follow have a
row with its code, and what was seen of each.
"""

from collections.abc import Iterator
from itertools import groupby

from rich.console import Console

from ..redaction import Redactor
from ..results import CaseResult, EvalReport, EvalResult
from ._evidence import list_soft_failures, list_warnings
from ._lines import Line, print_lines
from ._reasons import LastReason
from ._repeats import describe_repeats
from ._rows import INDENT, make_line, row, run_rows
from ._scrub import scrub_report
from ._totals import render_totals


def render_summary(report: EvalReport) -> str:
    """Return the summary as bare text; nothing in it is wrapped, and no line of the agent's starts a line of it."""
    return "".join(f"{line.plain}\n" for line in _summary(report))


def print_summary(report: EvalReport, console: Console, redactor: Redactor, *, quiet: bool = False) -> None:
    """Print the summary, scrubbed, with the colours and the width of the console.

    A quiet one has no row for a case that passed without anything to say.
    """
    print_lines(_summary(scrub_report(report, redactor), quiet=quiet), console)


def _summary(report: EvalReport, *, quiet: bool = False) -> Iterator[Line]:
    about = " · ".join(filter(None, [f"remote-evals {report.tool_version}", report.target]))
    yield make_line("", about, body_style="dim")
    last = LastReason()
    shown = [case for case in report.cases if not (quiet and all(map(_is_unremarkable, case.runs)))]
    for (suite, file), cases in groupby(shown, key=lambda case: (case.runs[0].suite, case.runs[0].file)):
        yield make_line("", "")
        if suite or file:
            yield make_line("", " · ".join(filter(None, [suite, file])), body_style="bold")
        for case in cases:
            yield from _case(case, last)
    yield make_line("", "")
    if report.interrupted:
        yield make_line("", "interrupted: what was not done is skipped", body_style="bold yellow")
    yield make_line("", render_totals(report), body_style=_totals_style(report))


def _is_unremarkable(result: EvalResult) -> bool:
    return result.passed and not list_soft_failures(result) and not list_warnings(result)


def _case(case: CaseResult, last: LastReason) -> Iterator[Line]:
    is_repeated = len(case.runs) > 1
    if is_repeated:
        yield row(case.status, f"{case.name} {describe_repeats(case)}")
    for run in case.runs:
        yield from run_rows(run, INDENT if is_repeated else "", as_above=last.is_that_of(run))


def _totals_style(report: EvalReport) -> str:
    if report.results and report.passed == report.total_cases:
        flaky = any(case.is_flaky for case in report.cases)
        return "bold yellow" if report.soft_failed or flaky else "bold green"
    return "bold red"
