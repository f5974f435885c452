"""The rows of a summary: one run, and under it what a person needs to act on it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console

from ..redaction import Redactor
from ..results import CaseResult, EvalReport, EvalResult, Status
from .evidence import (
    Evidence,
    LastReason,
    collect_evidence,
    cut,
    describe_ids,
    describe_time,
    error_of,
    list_soft_failures,
    list_warnings,
    needs_evidence,
    split_lines,
)
from .terminal import INDENT, Line, make_line, print_lines
from .totals import describe_repeats, render_totals
from .writing import scrub_report

_MARKS: dict[Status, tuple[str, str]] = {
    "passed": ("[PASS]", "bold green"),
    "failed": ("[FAIL]", "bold red"),
    "error": ("[ERROR]", "bold magenta"),
    "skipped": ("[SKIP]", "bold yellow"),
}
_LONGEST_ARGS = 200
_LONGEST_REPLY_LINE = 240
_MOST_REPLY_LINES = 4
_MOST_LINES = 12


def row(status: Status, text: str, margin: str = "") -> Line:
    """Return the row of a case or a run: its mark and a text."""
    mark, style = _MARKS[status]
    return make_line(f"{margin}{mark} ", text, style, "bold" if status in ("failed", "error") else "")


def run_rows(result: EvalResult, margin: str = "", *, as_above: bool = False) -> Iterator[Line]:
    """Yield the row of one run and, under it, why it did not pass and what there is to warn of.

    `as_above` says that the one reason that it has was told last, so that the row names its code alone.
    """
    indent = margin + INDENT
    reason = f" … {error_of(result).code}, as above" if as_above else ""
    yield row(result.status, f"{result.name}{describe_time(result)}{reason}", margin)
    yield from () if as_above else _reasons(result, indent)
    for text in list_soft_failures(result):
        yield from _block(f"{indent}soft: ", split_lines(text), "yellow")
    for text in list_warnings(result):
        yield from _block(f"{indent}warning: ", split_lines(text), "yellow")
    if needs_evidence(result):
        for found in collect_evidence(result, _LONGEST_ARGS):
            yield from _block(f"{indent}{found.label}: ", _shorten(found))
        if ids := describe_ids(result):
            yield make_line(indent, ids, body_style="dim")


def _reasons(result: EvalResult, indent: str) -> Iterator[Line]:
    for failed in result.failures:
        label = "soft (--strict): " if failed.kind == "soft" else ""
        yield from _block(f"{indent}{label}", split_lines(failed.message or failed.name), "red")
    if result.error:
        text = f"{result.error.code}: {result.error.message}"
        yield from _block(indent, split_lines(text), "yellow" if result.status == "skipped" else "magenta")


def _shorten(found: Evidence) -> Sequence[str]:
    # What an agent says can be long; what it called is cut already, so that how it ended stays in sight.
    is_reply = found.kind == "reply"
    most = _MOST_REPLY_LINES if is_reply else _MOST_LINES
    lines = [cut(line, _LONGEST_REPLY_LINE) if is_reply else line for line in found.lines]
    # The remark on what was left out takes a line itself, so it must stand for two at least.
    return lines if len(lines) <= most + 1 else [*lines[:most], f"… {len(lines) - most} more lines"]


def _block(head: str, lines: Sequence[str], style: str = "") -> Iterator[Line]:
    """Yield a labelled text, its further lines behind a bar, so that no CI takes one for a command to its log."""
    bar = f"{' ' * (len(head) - 2)}| "
    for index, line in enumerate(lines or [""]):
        yield make_line(bar if index else head, line, "dim", style)


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
