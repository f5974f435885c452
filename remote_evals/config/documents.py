"""Files of data as parsed values that remember their lines, so that a mistake can be pointed at."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .yaml_lines import KeyPath, YamlError, parse_nodes

# What JSON allows and YAML does not, or takes for a line end: it stands in for itself while YAML looks for the lines.
_ODD = [9, *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0xD800, 0xE000), 0xFEFF, 0xFFFE, 0xFFFF]
_TO_PLAIN = {odd: 0xF0000 + odd if odd > 32 else " " for odd in _ODD}
_FROM_PLAIN = {plain: odd for odd, plain in _TO_PLAIN.items()}


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file and the line, from 1, at which each part of it stands, as far as that is known.

    `mistakes` are the lines that could not be parsed, where the others could: each a line and what is wrong.
    """

    data: Any
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    mistakes: Sequence[tuple[int, str]] = ()

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line of the part at `path`, or of the nearest part around it; None when nothing is known."""
        parts = tuple(path)
        return next((self.lines[parts[:end]] for end in range(len(parts), -1, -1) if parts[:end] in self.lines), None)


class DocumentError(Exception):
    """A file that cannot be parsed: what is wrong, and at which line, None when that is not known."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text, line)
        self.text = text
        self.line = line


def load_document(path: Path) -> Document:
    """Read a YAML, JSON or JSONL file, told apart by its ending. Raises `DocumentError`, also for bad UTF-8."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DocumentError(f"not UTF-8 text: byte {error.object[error.start]:#04x}", line) from error
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", None) from error
    parse = {".jsonl": parse_jsonl, ".json": parse_json}.get(path.suffix, parse_yaml)
    return parse(text)


def parse_yaml(text: str) -> Document:
    """Parse one YAML document. A key given twice is an error: one of the two would be lost."""
    try:
        return Document(*parse_nodes(text))
    except YamlError as error:
        raise DocumentError(error.text, error.line) from error


def parse_json(text: str) -> Document:
    """Parse one JSON document. A key given twice is an error."""
    lines: dict[KeyPath, int] = {}
    stopped_at = None
    try:
        # JSON is YAML but for those characters, and the YAML parser knows lines.
        _, found = parse_nodes(text.translate(_TO_PLAIN))
        lines = {_restore(path): line for path, line in found.items()}
    except YamlError as error:
        stopped_at = error.line
    try:
        return Document(_parse_json(text), lines)
    except DocumentError as error:
        raise DocumentError(error.text, error.line or stopped_at) from error.__cause__


def _restore(path: KeyPath) -> KeyPath:
    return tuple(part.translate(_FROM_PLAIN) if isinstance(part, str) else part for part in path)


def parse_jsonl(text: str) -> Document:
    """Parse a JSON value a line, into a list; blank lines are skipped, and broken ones are the document's mistakes."""
    rows: list[Any] = []
    lines: dict[KeyPath, int] = {(): 1}
    mistakes = []
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            try:
                rows.append(_parse_json(row))
            except DocumentError as error:
                mistakes.append((number, error.text))
            else:
                lines[len(rows) - 1,] = number
    return Document(rows, lines, mistakes)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_refuse_duplicates)
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise DocumentError("not JSON that can be read: it is nested too deeply", None) from error
    except ValueError as error:
        raise DocumentError(f"not JSON: {error}", None) from error


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return value


_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def load_toml(path: Path) -> Document:
    """Read a TOML file; dates in it are text. Raises `DocumentError`, also for bad UTF-8."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DocumentError(f"not UTF-8 text: byte {error.object[error.start]:#04x}", line) from error
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", None) from error
    return parse_toml(text)


def parse_toml(text: str) -> Document:
    """Parse a TOML document. Raises `DocumentError`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found and found[1] else None
        raise DocumentError(f"not TOML: {_AT_LINE.sub('', str(error))}", line) from error
    except RecursionError as error:
        raise DocumentError("not TOML that can be read: it is nested too deeply", None) from error
    return Document(json.loads(json.dumps(data, default=str)), _find_lines(text))


def _find_lines(text: str) -> dict[KeyPath, int]:
    """Return the first line of every key and table of a valid document; one of an array has that of its array."""
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for line, statement in _statements(text):
        made = tomllib.loads(statement)
        is_header = statement.lstrip().startswith("[")
        paths = list(_paths(made, () if is_header else table))
        if is_header:
            table = paths[-1]
        for path in paths:
            lines.setdefault(path, line)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement and its line: as many lines as `tomllib` needs to take them for a document."""
    start, pending = 1, ""
    for number, row in enumerate(text.splitlines(keepends=True), start=1):
        pending += row
        try:
            tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        yield start, pending
        start, pending = number + 1, ""


def _paths(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    for key, item in value.items() if isinstance(value, dict) else ():
        yield (*path, key)
        yield from _paths(item, (*path, key))
