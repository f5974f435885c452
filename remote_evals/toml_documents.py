"""TOML files as documents, with the lines of their keys, which `tomllib` does not tell."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .documents import Document, DocumentError
from .yaml_nodes import KeyPath

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
