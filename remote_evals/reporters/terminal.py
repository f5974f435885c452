"""Output for a terminal or a log: lines with a fixed head and a wrapped body, and progress while cases run.

Progress is a live view on a terminal, a line for each run in a log, or nothing. A case that runs three times counts
three times, since runs are what takes time. Progress never prints rows of the summary, so that in a log exactly one
line for each failed case begins with `[FAIL]`.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..core.durations import render_duration
from ..core.text import escape_control_chars
from ..redaction import Redactor
from ..results import EvalResult, Status
from ..results.report import Listener
from .evidence import describe_time

INDENT = " " * 7

_NARROWEST_BODY = 20
_MOST_NAMES = 6
_WORDS: dict[Status, tuple[str, str]] = {
    "passed": ("passed", "green"),
    "failed": ("failed", "red"),
    "error": ("error", "magenta"),
    "skipped": ("skipped", "yellow"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: a head that stays at the left, and beside it a body that may be wrapped.

    Both parts are `Text`, which rich never reads as markup.
    """

    head: Text
    body: Text

    @property
    def plain(self) -> str:
        """The line as plain text."""
        return self.head.plain + self.body.plain


def make_line(head: str, body: str, head_style: str = "", body_style: str = "") -> Line:
    """Return a line in which nothing can act on a terminal."""
    return Line(Text(escape_control_chars(head), head_style), Text(escape_control_chars(body), body_style))


def print_lines(lines: Iterable[Line], console: Console) -> None:
    """Print lines: wrapped on a terminal, whole in a log or a pipe, where people search and cut them."""
    _escape_unencodable_text(console)
    width = console.width if _is_terminal(console) else None
    for line in lines:
        console.print(_wrap(line, console, width) if width else Text.assemble(line.head, line.body), soft_wrap=True)


def open_progress(console: Console, redactor: Redactor, *, quiet: bool = False) -> "QuietProgress":
    """Return the progress view that fits the console, a context manager."""
    if quiet:
        return QuietProgress()
    return LiveProgress(console, redactor) if _is_terminal(console) else PlainProgress(console, redactor)


class QuietProgress(Listener):
    """Shows nothing."""

    def close(self) -> None:
        """Show nothing more; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class PlainProgress(QuietProgress):
    """Prints a line for each run that ends, in the order in which they end: `3/8 passed: order lookup (1.9s)`."""

    def __init__(self, console: Console, redactor: Redactor) -> None:
        _escape_unencodable_text(console)
        self._console = console
        self._redactor = redactor
        self._total = self._done = 0

    def on_start(self, total: int) -> None:
        """Remember the number of runs."""
        self._total = total

    def on_wait(self, description: str) -> None:
        """Print a line for a deployment that is waited for."""
        text = escape_control_chars(self._redactor.scrub(_describe_wait(description)))
        self._console.print(Text(text), soft_wrap=True)

    def on_case_end(self, result: EvalResult) -> None:
        """Print the line of a run."""
        self._done += 1
        word, style = _WORDS[result.status]
        name = escape_control_chars(self._redactor.scrub(result.name))
        line = Text.assemble(f"{self._done}/{self._total} ", (word, style), f": {name}{describe_time(result)}")
        self._console.print(line, soft_wrap=True)


class LiveProgress(QuietProgress):
    """Shows counts, the elapsed time and what is running, and erases itself when closed.

    `now` returns a time in seconds.
    """

    def __init__(self, console: Console, redactor: Redactor, now: Callable[[], float] = time.monotonic) -> None:
        _escape_unencodable_text(console)
        self._redactor = redactor
        self._now = now
        self._started = now()
        self._total = 0
        self._ended: Counter[Status] = Counter(dict.fromkeys(_WORDS, 0))
        self._running: list[str] = []
        self._waits: list[str] = []
        self._live = Live(get_renderable=self._render, console=console, transient=True, refresh_per_second=8)

    def on_start(self, total: int) -> None:
        """Remember the number of runs and open the view."""
        self._total, self._started = total, self._now()
        self._live.start()

    def on_wait(self, description: str) -> None:
        """Show that a deployment is waited for, until the first run begins."""
        self._waits.append(_describe_wait(description))

    def on_case_start(self, name: str) -> None:
        """Show a run as running."""
        self._waits.clear()
        self._running.append(name)

    def on_case_end(self, result: EvalResult) -> None:
        """Count a run and stop showing it."""
        self._ended[result.status] += 1
        if result.name in self._running:
            self._running.remove(result.name)

    def close(self) -> None:
        """Erase the view."""
        self._live.stop()

    def _render(self) -> RenderableType:
        row = Table.grid(padding=(0, 1))
        row.add_row(ProgressBar(total=self._total, completed=self._ended.total(), width=20), self._render_counts())
        return Group(row, *self._render_names())

    def _render_counts(self) -> Text:
        counts = [(self._ended[status], word, style) for status, (word, style) in _WORDS.items()]
        parts = [Text(f"{self._ended.total()}/{self._total}")]
        parts += [Text(f"{count} {word}", style) for count, word, style in counts if count]
        parts.append(Text(render_duration(self._now() - self._started), "dim"))
        row = Text(" · ").join(parts)
        row.no_wrap, row.overflow = True, "ellipsis"
        return row

    def _render_names(self) -> list[Text]:
        names = [escape_control_chars(self._redactor.scrub(name)) for name in [*self._waits, *self._running]]
        if len(names) > _MOST_NAMES + 1:
            names = [*names[:_MOST_NAMES], f"… {len(names) - _MOST_NAMES} more"]
        return [Text(f"  {name}", "dim", no_wrap=True, overflow="ellipsis") for name in names]


def _is_terminal(console: Console) -> bool:
    """Return whether a person sees the console; with FORCE_COLOR rich takes a CI's log for a terminal as well."""
    return console.is_interactive and console.file.isatty()


def _escape_unencodable_text(console: Console) -> None:
    r"""Make a console with a limited encoding print `\u2026` for a character that it lacks, instead of failing."""
    if isinstance(console.file, TextIOWrapper):
        console.file.reconfigure(errors="backslashreplace")


def _wrap(line: Line, console: Console, width: int) -> Text:
    room = max(_NARROWEST_BODY, width - line.head.cell_len)
    parts = line.body.wrap(console, room) or [Text()]
    for part in parts:
        part.rstrip()
    first, *others = parts
    margin = " " * line.head.cell_len
    return Text("\n").join([Text.assemble(line.head, first), *[Text.assemble(margin, other) for other in others]])


def _describe_wait(description: str) -> str:
    return f"waiting for {description} to be ready"
