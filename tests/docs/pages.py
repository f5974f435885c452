"""The README pages of the folders as their tests read them: text, blocks, tables, options, links and written parts."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.serving.command import ROOT

MAX_LINE_CHARS = 140

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")


class Table(NamedTuple):
    """A table of a page: the titles of its columns, and its rows, all as they are written."""

    titles: list[str]
    rows: list[list[str]]


def read(page: str) -> str:
    """Return the text of a page, such as `remote_evals/cli/README.md`."""
    return (ROOT / page).read_text("utf-8")


def fenced_blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a language; an empty one means the blocks that name none."""
    return [text for name, text in _BLOCK.findall(read(page)) if name == language]


def tables(page: str) -> list[Table]:
    """Return the tables of a page, in their order."""
    found, lines = [], []
    for line in [*_BLOCK.sub("", read(page)).splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in _UNESCAPED_BAR.split(line)[1:-1]])
        elif lines:
            titles, _, *rows = lines
            found.append(Table(titles, rows))
            lines = []
    return found


def find_table(page: str, *titles: str) -> Table:
    """Return the only table of a page whose first columns have these titles."""
    (table,) = [table for table in tables(page) if table.titles[: len(titles)] == list(titles)]
    return table


def find_code(text: str) -> list[str]:
    """Return what stands between single backticks, outside of blocks."""
    return re.findall(r"`([^`\n]+)`", _BLOCK.sub("", text))


def named_options(text: str) -> set[str]:
    """Return the long options that a text names."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def find_broken_links(page: str) -> Iterator[str]:
    """Yield each relative link that leads nowhere. A folder may be linked before it has its README."""
    for path, anchor in _LINK.findall(_BLOCK.sub("", read(page))):
        target = (ROOT / page).parent / path if path else ROOT / page
        is_page_to_come = target.name == "README.md" and target.parent.is_dir() and not target.exists()
        if not (target.exists() or is_page_to_come) or (anchor and target.exists() and anchor not in _anchors(target)):
            yield f"{path}#{anchor}" if anchor else path


def find_long_lines(page: str) -> list[str]:
    """Return the lines that are too long to be read in a narrow window; a row of a table is one line in any case."""
    lines = read(page).splitlines()
    return [line for line in lines if len(line) > MAX_LINE_CHARS and not line.startswith("|")]


def read_written(page: str, name: str, text: str) -> str:
    """Return what stands between the markers `<!-- NAME: begin -->` and `<!-- NAME: end -->`.

    With REMOTE_EVALS_UPDATE_SNAPSHOTS=1, `text` is written there first.
    """
    marked = re.compile(rf"(<!-- {name}: begin -->\n)(.*?)(<!-- {name}: end -->\n)", re.DOTALL)
    if os.environ.get("REMOTE_EVALS_UPDATE_SNAPSHOTS") == "1":
        changed = marked.sub(lambda found: found[1] + text + found[3], read(page))
        (ROOT / page).write_text(changed, "utf-8")
    (written,) = [found[2] for found in marked.finditer(read(page))]
    return written


def _anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", path.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
