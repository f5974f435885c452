"""Reads YAML, JSON, JSONL and TOML files as documents: a value and the line of each part, to report problems by line.

`json` and `tomllib` report no lines, so they are found here: in JSON by the YAML parser, in TOML a statement at a time.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .problems import DocumentError, KeyPath
from .yaml_lines import parse_with_lines

# Characters that JSON allows and YAML refuses or takes for line ends. While YAML finds the lines of a JSON text, each
# has a stand-in.
_ODD = [9, *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0xD800, 0xE000), 0xFEFF, 0xFFFE, 0xFFFF]
_TO_STAND_IN = {odd: 0xF0000 + odd if odd > 32 else " " for odd in _ODD}
_FROM_STAND_IN = {stand_in: odd for odd, stand_in in _TO_STAND_IN.items()}

_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file and the line of each of its parts, from 1, as far as it is known.

    `problems` are the lines that could not be parsed where the others could: each with its number and what is wrong.
    """

    data: Any
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    problems: Sequence[tuple[int, str]] = ()

    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line of the part at `path`, or of the nearest part around it, or None if none is known."""
        parts = tuple(path)
        return next((self.lines[parts[:end]] for end in range(len(parts), -1, -1) if parts[:end] in self.lines), None)


def load_document(path: Path) -> Document:
    """Read a YAML, JSON or JSONL file, as its ending says. Raises `DocumentError`, also for bad UTF-8."""
    parse = {".jsonl": parse_jsonl, ".json": parse_json}.get(path.suffix, parse_yaml)
    return parse(_read_text(path))


def load_toml(path: Path) -> Document:
    """Read a TOML file; dates in it become text. Raises `DocumentError`, also for bad UTF-8."""
    # Line ends stay as they are, since TOML forbids a carriage return alone.
    return parse_toml(_read_text(path, newline=""))


def _read_text(path: Path, newline: str | None = None) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            return file.read()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DocumentError(f"not UTF-8 text: byte {error.object[error.start]:#04x}", line) from error
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", None) from error


def parse_yaml(text: str) -> Document:
    """Parse one YAML document. A key given twice is an error, since one of the two values would be lost."""
    return Document(*parse_with_lines(text))


def parse_json(text: str) -> Document:
    """Parse one JSON document. A key given twice is an error."""
    lines: dict[KeyPath, int] = {}
    stopped_at = None
    try:
        # Apart from the odd characters JSON is YAML, and the YAML parser knows lines.
        _, found = parse_with_lines(text.translate(_TO_STAND_IN))
        lines = {_restore(path): line for path, line in found.items()}
    except DocumentError as error:
        stopped_at = error.line
    try:
        return Document(_parse_json_value(text), lines)
    except DocumentError as error:
        raise DocumentError(error.text, error.line or stopped_at) from error.__cause__


def _restore(path: KeyPath) -> KeyPath:
    return tuple(part.translate(_FROM_STAND_IN) if isinstance(part, str) else part for part in path)


def parse_jsonl(text: str) -> Document:
    """Parse one JSON value a line into a list; blank lines are skipped, and broken ones become `problems`."""
    rows: list[Any] = []
    lines: dict[KeyPath, int] = {(): 1}
    problems = []
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            try:
                rows.append(_parse_json_value(row))
            except DocumentError as error:
                problems.append((number, error.text))
            else:
                lines[len(rows) - 1,] = number
    return Document(rows, lines, problems)


def _parse_json_value(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_refuse_duplicates)
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise DocumentError("cannot be read as JSON: it is nested too deeply", None) from error
    except ValueError as error:
        raise DocumentError(f"not JSON: {error}", None) from error


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return value


def parse_toml(text: str) -> Document:
    """Parse a TOML document; dates become text. Raises `DocumentError`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found and found[1] else None
        raise DocumentError(f"not TOML: {_AT_LINE.sub('', str(error))}", line) from error
    except RecursionError as error:
        raise DocumentError("cannot be read as TOML: it is nested too deeply", None) from error
    return Document(json.loads(json.dumps(data, default=str)), _find_lines(text))


def _find_lines(text: str) -> dict[KeyPath, int]:
    """Return the first line of every key and table in valid TOML; parts of an array share the line of the array."""
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for line, statement in _split_statements(text):
        value = tomllib.loads(statement)
        is_header = statement.lstrip().startswith("[")
        paths = list(_walk_keys(value, () if is_header else table))
        if is_header:
            table = paths[-1]
        for path in paths:
            lines.setdefault(path, line)
    return lines


def _split_statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement with its first line: as many lines as `tomllib` needs to parse them on their own."""
    start, pending = 1, ""
    for number, row in enumerate(text.splitlines(keepends=True), start=1):
        pending += row
        try:
            tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        yield start, pending
        start, pending = number + 1, ""


def _walk_keys(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    for key, item in value.items() if isinstance(value, dict) else ():
        yield (*path, key)
        yield from _walk_keys(item, (*path, key))
