"""YAML text to data that still knows its line numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """Reads plain scalars as YAML 1.2 does: `yes`, `no`, `on`, `12:30`, `007` and dates are text."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", [*"~nN", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", [*"-+0123456789"]),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", [*"-+.0123456789"]),
    ("merge", r"<<", [*"<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), _first)


@dataclass(frozen=True)
class Document:
    """The data of a YAML text, and the nodes it was made from."""

    data: object
    root: yaml.Node | None

    def line_of(self, path: Sequence[str | int]) -> int:
        """Return the line on which the value at `path` starts, or that of the nearest thing around it."""
        node, line = self.root, 1
        for part in path:
            for key, value in _children(node):
                if _name(key) == part:
                    node, line = value, (key if isinstance(key, yaml.Node) else value).start_mark.line + 1
                    break
        return line

    def duplicate_keys(self) -> list[tuple[int, str]]:
        """Return the line and name of every key that a mapping holds a second time."""
        return [(key.start_mark.line + 1, str(key.value)) for node in _walk(self.root) for key in _repeated(node)]


def parse_document(text: str) -> Document:
    """Return the one document of `text`; raises `yaml.YAMLError`."""
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        return Document(None if root is None else loader.construct_document(root), root)
    finally:
        loader.dispose()


def _children(node: yaml.Node | None) -> list[tuple[Any, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        return list(node.value)
    return list(enumerate(node.value)) if isinstance(node, yaml.SequenceNode) else []


def _name(key: Any) -> object:
    return key.value if isinstance(key, yaml.Node) else key


def _walk(root: yaml.Node | None) -> Iterator[yaml.Node]:
    seen: set[int] = set()
    waiting = [root] if root else []
    while waiting:
        node = waiting.pop(0)
        # an alias can stand inside what it names
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(child for _, child in _children(node))


def _repeated(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    seen: set[object] = set()
    for key, _ in _children(node):
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                yield key
            seen.add(key.value)
