"""The report as text for people: a row for each case, under it what they need to act on it, and the totals at the end.

If one reason keeps several cases in a row from being judged, it is shown once, under the first of them; the others have
a row with its code, and their own evidence.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console

from ..redaction import Redactor
from ..results import CaseResult, EvalReport, EvalResult, Status
from .evidence import (
    Evidence,
    ReasonTracker,
    collect_evidence,
    describe_ids,
    describe_time,
    get_error,
    list_soft_failures,
    list_warnings,
    needs_evidence,
    split_lines,
    truncate,
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


def render_summary(report: EvalReport) -> str:
    """Return the summary as plain text; it is not wrapped, and no line of it starts with text of the agent."""
    return "".join(f"{line.plain}\n" for line in _make_summary(report))


def print_summary(report: EvalReport, console: Console, redactor: Redactor, *, quiet: bool = False) -> None:
    """Print the summary, scrubbed, with the colours and the width of the console.

    A quiet summary leaves out the cases that passed without failures or warnings in any run.
    """
    print_lines(_make_summary(scrub_report(report, redactor), quiet=quiet), console)


def make_row(status: Status, text: str, margin: str = "") -> Line:
    """Return the row of a case or a run: its mark and a text."""
    mark, style = _MARKS[status]
    return make_line(f"{margin}{mark} ", text, style, "bold" if status in ("failed", "error") else "")


def make_run_rows(result: EvalResult, margin: str = "", *, as_above: bool = False) -> Iterator[Line]:
    """Yield the row of one run and, under it, why it did not pass, its warnings and its evidence.

    With `as_above` its reason is the one shown last, so the row has only the code of that reason.
    """
    indent = margin + INDENT
    reason = f" … {get_error(result).code}, as above" if as_above else ""
    yield make_row(result.status, f"{result.name}{describe_time(result)}{reason}", margin)
    yield from () if as_above else _make_reasons(result, indent)
    for text in list_soft_failures(result):
        yield from _make_block(f"{indent}soft: ", split_lines(text), "yellow")
    for text in list_warnings(result):
        yield from _make_block(f"{indent}warning: ", split_lines(text), "yellow")
    if needs_evidence(result):
        for evidence in collect_evidence(result, _LONGEST_ARGS):
            yield from _make_block(f"{indent}{evidence.label}: ", _shorten(evidence))
        if ids := describe_ids(result):
            yield make_line(indent, ids, body_style="dim")


def _make_summary(report: EvalReport, *, quiet: bool = False) -> Iterator[Line]:
    about = " · ".join(filter(None, [f"remote-evals {report.tool_version}", report.target]))
    yield make_line("", about, body_style="dim")
    reasons = ReasonTracker()
    shown = [case for case in report.cases if not (quiet and all(map(_is_unremarkable, case.runs)))]
    for (suite, file), cases in groupby(shown, key=lambda case: (case.runs[0].suite, case.runs[0].file)):
        yield make_line("", "")
        if suite or file:
            yield make_line("", " · ".join(filter(None, [suite, file])), body_style="bold")
        for case in cases:
            yield from _make_case_rows(case, reasons)
    yield make_line("", "")
    if report.interrupted:
        yield make_line("", "interrupted: what was not done is skipped", body_style="bold yellow")
    yield make_line("", render_totals(report), body_style=_get_totals_style(report))


def _is_unremarkable(result: EvalResult) -> bool:
    return result.passed and not list_soft_failures(result) and not list_warnings(result)


def _make_case_rows(case: CaseResult, reasons: ReasonTracker) -> Iterator[Line]:
    has_several_runs = len(case.runs) > 1
    if has_several_runs:
        yield make_row(case.status, f"{case.name} {describe_repeats(case)}")
    for run in case.runs:
        yield from make_run_rows(run, INDENT if has_several_runs else "", as_above=reasons.is_repeated(run))


def _get_totals_style(report: EvalReport) -> str:
    if report.results and report.passed == report.total_cases:
        flaky = any(case.is_flaky for case in report.cases)
        return "bold yellow" if report.soft_failed or flaky else "bold green"
    return "bold red"


def _make_reasons(result: EvalResult, indent: str) -> Iterator[Line]:
    for failed in result.failures:
        label = "soft (--strict): " if failed.kind == "soft" else ""
        yield from _make_block(f"{indent}{label}", split_lines(failed.message or failed.name), "red")
    if result.error:
        text = f"{result.error.code}: {result.error.message}"
        yield from _make_block(indent, split_lines(text), "yellow" if result.status == "skipped" else "magenta")


def _shorten(evidence: Evidence) -> Sequence[str]:
    # A reply can be long. Calls are cut already, so that their outcome stays visible.
    is_reply = evidence.kind == "reply"
    most = _MOST_REPLY_LINES if is_reply else _MOST_LINES
    lines = [truncate(line, _LONGEST_REPLY_LINE) if is_reply else line for line in evidence.lines]
    # The remark takes a line itself, so it must replace at least two.
    return lines if len(lines) <= most + 1 else [*lines[:most], f"… {len(lines) - most} more lines"]


def _make_block(head: str, lines: Sequence[str], style: str = "") -> Iterator[Line]:
    """Yield a labelled text, its further lines behind a bar, so that no CI reads one as a command in its log."""
    bar = f"{' ' * (len(head) - 2)}| "
    for index, line in enumerate(lines or [""]):
        yield make_line(bar if index else head, line, "dim", style)
