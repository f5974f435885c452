"""Lines for a terminal: a head that stays at the left, and beside it a body that may be wrapped."""

from collections.abc import Iterable
from dataclasses import dataclass
from io import TextIOWrapper

from rich.console import Console
from rich.text import Text

_NARROWEST_BODY = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line. Both parts are `Text`, which rich never reads as markup."""

    head: Text
    body: Text

    @property
    def plain(self) -> str:
        """The line as bare text."""
        return self.head.plain + self.body.plain


def print_lines(lines: Iterable[Line], console: Console) -> None:
    """Print lines: wrapped on a screen, whole in a log or a pipe, where people search and cut them."""
    allow_any_text(console)
    width = console.width if is_screen(console) else None
    for line in lines:
        console.print(_wrap(line, console, width) if width else Text.assemble(line.head, line.body), soft_wrap=True)


def is_screen(console: Console) -> bool:
    """Say whether a person looks at the console; FORCE_COLOR makes rich believe so of a CI's log as well."""
    return console.is_interactive and console.file.isatty()


def allow_any_text(console: Console) -> None:
    r"""Make a console of a narrow encoding write what it lacks as `\u2026` instead of failing."""
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
