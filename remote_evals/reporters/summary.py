"""The report as text for people: a row a case, under it what they need to act on it, and the totals at the end."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ..redaction import Redactor
from ..results import EvalReport, EvalResult, Status
from ._evidence import (
    Evidence,
    collect_evidence,
    cut,
    describe_ids,
    describe_time,
    list_soft_failures,
    list_unchecked,
    split_lines,
)
from ._lines import Line, print_lines
from ._scrub import scrub_report
from ._totals import render_totals
from ._visible import show_line

_ROWS: dict[Status, tuple[str, str]] = {
    "passed": ("[PASS]", "bold green"),
    "failed": ("[FAIL]", "bold red"),
    "error": ("[ERROR]", "bold magenta"),
    "skipped": ("[SKIP]", "bold yellow"),
}
_INDENT = " " * 7
_LONGEST_ARGS = 200
_LONGEST_REPLY_LINE = 240
_MOST_REPLY_LINES = 4
_MOST_LINES = 12


def render_summary(report: EvalReport) -> str:
    """Return the summary as bare text; nothing in it is wrapped, and no line of the agent's starts a line of it."""
    return "".join(f"{line.plain}\n" for line in _summary(report))


def print_summary(report: EvalReport, console: Console, redactor: Redactor, *, quiet: bool = False) -> None:
    """Print the summary, scrubbed, with the colours and the width of the console.

    A quiet one has no row for a case that passed without anything to say.
    """
    print_lines(_summary(scrub_report(report, redactor), quiet=quiet), console)


def _summary(report: EvalReport, *, quiet: bool = False) -> Iterator[Line]:
    yield _line("", " · ".join(filter(None, [f"remote-evals {report.tool_version}", report.target])), body_style="dim")
    shown = [result for result in report.results if not (quiet and _is_unremarkable(result))]
    for (suite, file), results in groupby(shown, key=lambda result: (result.suite, result.file)):
        yield _line("", "")
        if suite or file:
            yield _line("", " · ".join(filter(None, [suite, file])), body_style="bold")
        for result in results:
            yield from _case(result)
    yield _line("", "")
    if report.interrupted:
        yield _line("", "interrupted: what was not done is skipped", body_style="bold yellow")
    yield _line("", render_totals(report), body_style=_totals_style(report))


def _is_unremarkable(result: EvalResult) -> bool:
    return result.passed and not list_soft_failures(result) and not list_unchecked(result)


def _case(result: EvalResult) -> Iterator[Line]:
    mark, style = _ROWS[result.status]
    yield _line(
        f"{mark} ",
        f"{result.name}{describe_time(result)}",
        style,
        "bold" if result.status in ("failed", "error") else "",
    )
    yield from _reasons(result)
    for text in list_soft_failures(result):
        yield from _block("soft", split_lines(text), "yellow")
    for text in list_unchecked(result):
        yield from _block("warning", split_lines(text), "yellow")
    if result.status in ("failed", "error"):
        for found in collect_evidence(result, _LONGEST_ARGS):
            yield from _block(found.label, _shorten(found))
        if ids := describe_ids(result):
            yield _line(_INDENT, ids, body_style="dim")


def _reasons(result: EvalResult) -> Iterator[Line]:
    for failed in result.failures:
        label = "soft (--strict)" if failed.kind == "soft" else ""
        yield from _block(label, split_lines(failed.message or failed.name), "red")
    if result.error:
        text = f"{result.error.code}: {result.error.message}"
        yield from _block("", split_lines(text), "yellow" if result.status == "skipped" else "magenta")


def _shorten(found: Evidence) -> Sequence[str]:
    # What an agent says can be long; what it called is cut already, so that how it ended stays in sight.
    is_reply = found.kind == "reply"
    most = _MOST_REPLY_LINES if is_reply else _MOST_LINES
    lines = [cut(line, _LONGEST_REPLY_LINE) if is_reply else line for line in found.lines]
    # The remark on what was left out takes a line itself, so it must stand for two at least.
    return lines if len(lines) <= most + 1 else [*lines[:most], f"… {len(lines) - most} more lines"]


def _block(label: str, lines: Sequence[str], style: str = "") -> Iterator[Line]:
    """Return a labelled text, its further lines behind a bar, so that no CI takes one for a command to its log."""
    head = f"{_INDENT}{label}: " if label else _INDENT
    bar = f"{' ' * (len(head) - 2)}| "
    for index, line in enumerate(lines or [""]):
        yield _line(bar if index else head, line, "dim", style)


def _line(head: str, body: str, head_style: str = "", body_style: str = "") -> Line:
    return Line(Text(show_line(head), head_style), Text(show_line(body), body_style))


def _totals_style(report: EvalReport) -> str:
    if report.results and report.count("passed") == len(report.results):
        return "bold green" if not report.soft_failed else "bold yellow"
    return "bold red"
