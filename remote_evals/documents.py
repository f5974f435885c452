"""Files of data as parsed values that remember their lines, so that a mistake can be pointed at."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file and the line, from 1, at which each part of it stands, as far as that is known."""

    data: Any
    lines: Mapping[KeyPath, int] = field(default_factory=dict)

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
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        lines = dict(_walk(root, ())) if root else {}
        return Document(yaml.safe_load(text), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DocumentError(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DocumentError(f"not YAML: {error.reason} (character {error.character!r})", line) from error
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not YAML: {error}", None) from error


def parse_json(text: str) -> Document:
    """Parse one JSON document. A key given twice is an error."""
    data = _parse_json(text, 1)
    try:
        # JSON is YAML but for tabs between its tokens: the composer that knows lines reads both.
        root = yaml.compose(text.replace("\t", " "), Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return Document(data)
    return Document(data, dict(_walk(root, ())) if root else {})


def parse_jsonl(text: str) -> Document:
    """Parse a JSON value a line, into a list; blank lines are skipped. Every broken line is reported at once."""
    rows: list[Any] = []
    lines: dict[KeyPath, int] = {(): 1}
    broken: list[DocumentError] = []
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            lines[len(rows),] = number
            try:
                rows.append(_parse_json(row, number))
            except DocumentError as error:
                broken.append(error)
    if broken:
        rest = "".join(f"; line {error.line}: {error.text}" for error in broken[1:])
        raise DocumentError(broken[0].text + rest, broken[0].line)
    return Document(rows, lines)


def _parse_json(text: str, first_line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_refuse_duplicates)
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg}", first_line + error.lineno - 1) from error
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not JSON: {error}", first_line) from error


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return value


def _walk(node: yaml.Node, path: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(item, (*path, index))
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, item in node.value:
            if key.value in seen and key.tag != "tag:yaml.org,2002:merge":
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
            seen.add(key.value)
            # The key's own line: where the value is a block, that is the line above it.
            yield (*path, key.value), key.start_mark.line + 1
            yield from list(_walk(item, (*path, key.value)))[1:]
