"""The rows of a summary: one run, and under it what a person needs to act on it."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from ..core.text import show_line
from ..results import EvalResult, Status
from ._evidence import (
    Evidence,
    collect_evidence,
    cut,
    describe_ids,
    describe_time,
    list_soft_failures,
    list_warnings,
    needs_evidence,
    split_lines,
)
from ._lines import Line
from ._reasons import error_of

INDENT = " " * 7
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


def make_line(head: str, body: str, head_style: str = "", body_style: str = "") -> Line:
    """Return a line in which nothing can act on a terminal."""
    return Line(Text(show_line(head), head_style), Text(show_line(body), body_style))


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
