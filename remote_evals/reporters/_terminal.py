"""What is shown while cases run: a view that moves on a terminal, a line a run in a log, or nothing.

A case that runs three times counts three times here: it is the runs that take the time.
None of them prints the rows of the summary, so that a line of a log begins with `[FAIL]` once for each failed case.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..core.durations import render_duration
from ..core.text import show_line
from ..redaction import Redactor
from ..results import EvalResult, Status
from ..results.report import Listener
from ._evidence import describe_time
from ._lines import allow_any_text, is_screen

_WORDS: dict[Status, tuple[str, str]] = {
    "passed": ("passed", "green"),
    "failed": ("failed", "red"),
    "error": ("error", "magenta"),
    "skipped": ("skipped", "yellow"),
}
_MOST_NAMES = 6


def open_progress(console: Console, redactor: Redactor, *, quiet: bool = False) -> "QuietProgress":
    """Return the view that fits the console, to be used as a context manager."""
    if quiet:
        return QuietProgress()
    return LiveProgress(console, redactor) if is_screen(console) else PlainProgress(console, redactor)


class QuietProgress(Listener):
    """Listens and shows nothing."""

    def close(self) -> None:
        """Show nothing any more; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class PlainProgress(QuietProgress):
    """Writes a line for each run that is done, in the order in which they end: `3/8 passed: order lookup (1.9s)`."""

    def __init__(self, console: Console, redactor: Redactor) -> None:
        allow_any_text(console)
        self._console = console
        self._redactor = redactor
        self._total = self._done = 0

    def on_start(self, total: int) -> None:
        """Take the number of runs."""
        self._total = total

    def on_wait(self, description: str) -> None:
        """Write a line for a deployment that is waited for."""
        self._console.print(Text(show_line(self._redactor.scrub(_describe_wait(description)))), soft_wrap=True)

    def on_case_end(self, result: EvalResult) -> None:
        """Write the line of a run."""
        self._done += 1
        word, style = _WORDS[result.status]
        name = show_line(self._redactor.scrub(result.name))
        line = Text.assemble(f"{self._done}/{self._total} ", (word, style), f": {name}{describe_time(result)}")
        self._console.print(line, soft_wrap=True)


class LiveProgress(QuietProgress):
    """Shows counts, the time and what is running, and is gone without a trace once closed."""

    def __init__(self, console: Console, redactor: Redactor, clock: Callable[[], float] = time.monotonic) -> None:
        allow_any_text(console)
        self._redactor = redactor
        self._clock = clock
        self._started = clock()
        self._total = 0
        self._ended: Counter[Status] = Counter(dict.fromkeys(_WORDS, 0))
        self._running: list[str] = []
        self._awaited: list[str] = []
        self._live = Live(get_renderable=self._render, console=console, transient=True, refresh_per_second=8)

    def on_start(self, total: int) -> None:
        """Take the number of runs and begin to show."""
        self._total, self._started = total, self._clock()
        self._live.start()

    def on_wait(self, description: str) -> None:
        """Show a deployment as waited for, until the first run begins."""
        self._awaited.append(_describe_wait(description))

    def on_case_start(self, name: str) -> None:
        """Show a run as running."""
        self._awaited.clear()
        self._running.append(name)

    def on_case_end(self, result: EvalResult) -> None:
        """Count a run and show it no more."""
        self._ended[result.status] += 1
        if result.name in self._running:
            self._running.remove(result.name)

    def close(self) -> None:
        """Take the view off the terminal."""
        self._live.stop()

    def _render(self) -> RenderableType:
        row = Table.grid(padding=(0, 1))
        row.add_row(ProgressBar(total=self._total, completed=self._ended.total(), width=20), self._counts())
        return Group(row, *self._names())

    def _counts(self) -> Text:
        counts = [(self._ended[status], word, style) for status, (word, style) in _WORDS.items()]
        parts = [Text(f"{self._ended.total()}/{self._total}")]
        parts += [Text(f"{count} {word}", style) for count, word, style in counts if count]
        parts.append(Text(render_duration(self._clock() - self._started), "dim"))
        row = Text(" · ").join(parts)
        row.no_wrap, row.overflow = True, "ellipsis"
        return row

    def _names(self) -> list[Text]:
        names = [show_line(self._redactor.scrub(name)) for name in [*self._awaited, *self._running]]
        shown = names if len(names) <= _MOST_NAMES + 1 else [*names[:_MOST_NAMES], f"… {len(names) - _MOST_NAMES} more"]
        return [Text(f"  {name}", "dim", no_wrap=True, overflow="ellipsis") for name in shown]


def _describe_wait(description: str) -> str:
    return f"waiting for {description} to be ready"
