"""The table of figures: what was measured, what it is compared with, and whether it is good enough."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_TITLES = ("what", "measured", "compared with", "ratio", "target", "ok?")


@dataclass(frozen=True)
class Row:
    """One line; `ratio` is measured to compared, and `ok` is None without a target."""

    what: str
    measured: str
    compared: str = ""
    ratio: float | None = None
    target: str = ""
    ok: bool | None = None


def render_table(rows: Iterable[Row]) -> str:
    """Return the rows below their titles, in columns of the width that they need."""
    lines = [_TITLES, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(_align(line, widths) for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
    ok = {None: "", True: "ok", False: "MISSED"}[row.ok]
    return (row.what, row.measured, row.compared, ratio, row.target, ok)


def _align(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
