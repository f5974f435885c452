"""Parses YAML, limited to what JSON can hold, and finds the line of every part.

Scalars are read as in JSON and YAML 1.2: `yes`, `on`, `007` and dates are text, and so is every key.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from .problems import DocumentError, KeyPath

_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_TAGS = {f"{_TAG}{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map", "merge")}
_PATTERNS = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"-?(0|[1-9][0-9]*)",
    "float": r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?",
    "merge": r"<<",
}
_MAX_VALUES = 1_000_000


def parse_with_lines(text: str) -> tuple[Any, dict[KeyPath, int]]:
    """Return the value of one YAML document and the line of each part, from 1. Raises `DocumentError`."""
    loader = None
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None:
            return None, {}
        lines = dict(_walk(loader, root, (), set()))
        _check_size(root)
        return loader.construct_document(root), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DocumentError(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DocumentError(f"not YAML: {error.reason} ({chr(error.character)!r})", line) from error
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not YAML: {error}", None) from error
    finally:
        if loader:
            loader.dispose()


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - yaml's own shape


for _name, _pattern in _PATTERNS.items():
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(rf"^(?:{_pattern})$"), None)


def _walk(loader: _Loader, node: yaml.Node, path: KeyPath, seen: set[int]) -> Iterator[tuple[KeyPath, int]]:
    """Yield the path and line of each part of a node, visiting each node once.

    Raises `yaml.MarkedYAMLError` for what JSON cannot hold.
    """
    _check_tag(loader, node)
    yield path, node.start_mark.line + 1
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _walk(loader, item, (*path, index), seen)
    elif isinstance(node, yaml.MappingNode):
        _check_keys(node)
        for key, item in node.value:
            yield from _walk(loader, item, (*path, key.value), seen)
            # The line of the key replaces that of its value, since a block starts below its key.
            yield (*path, key.value), key.start_mark.line + 1


def _check_tag(loader: _Loader, node: yaml.Node) -> None:
    contradicts_its_text = (
        isinstance(node, yaml.ScalarNode)
        and node.tag != f"{_TAG}str"
        and loader.resolve(yaml.ScalarNode, node.value, (True, False)) != node.tag  # type: ignore[no-untyped-call]
    )
    if node.tag not in _TAGS or contradicts_its_text:
        problem = f"the tag {node.tag.replace(_TAG, '!!')} is not supported here; remove it"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _check_keys(node: yaml.MappingNode) -> None:
    """Make every key text, and refuse a key that is not a scalar or stands twice."""
    given = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key.start_mark)
        if key.tag != _MERGE:
            key.tag = f"{_TAG}str"
            if key.value in given:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
        given.add(key.value)


def _check_size(root: yaml.Node) -> None:
    """Refuse aliases that contain themselves, and aliases of aliases that expand to too many values."""
    sizes: dict[int, int] = {}

    def measure(node: yaml.Node) -> int:
        if sizes.get(id(node)) == 0:
            raise ValueError("an alias refers to a value that contains it")
        if id(node) not in sizes:
            sizes[id(node)] = 0
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            items = node.value if isinstance(node, yaml.SequenceNode) else [item for _, item in pairs]
            sizes[id(node)] = 1 + sum(measure(item) for item in items)
        return sizes[id(node)]

    if measure(root) > _MAX_VALUES:
        raise ValueError(f"its aliases expand to more than {_MAX_VALUES} values")
