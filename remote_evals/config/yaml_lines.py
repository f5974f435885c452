"""YAML as far as JSON can hold it, with the line of every part.

Scalars are read as JSON and YAML 1.2 would: `yes`, `on`, `007` and dates are text, and so is every key.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

KeyPath = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_TAGS = {f"{_TAG}{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map", "merge")}
_MAX_VALUES = 1_000_000


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - yaml's own shape


for _name, _pattern in {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"-?(0|[1-9][0-9]*)",
    "float": r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?",
    "merge": r"<<",
}.items():
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(rf"^(?:{_pattern})$"), None)


class YamlError(Exception):
    """A text that is not YAML, or not such as JSON could hold; `line` counts from 1, None where it is not known."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text, line)
        self.text = text
        self.line = line


def parse_nodes(text: str) -> tuple[Any, dict[KeyPath, int]]:
    """Return the value of one YAML document and the lines of its parts. Raises `YamlError`."""
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
        raise YamlError(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlError(f"not YAML: {error.reason} ({chr(error.character)!r})", line) from error
    except (ValueError, RecursionError) as error:
        raise YamlError(f"not YAML: {error}", None) from error
    finally:
        if loader:
            loader.dispose()


def _walk(loader: _Loader, node: yaml.Node, path: KeyPath, seen: set[int]) -> Iterator[tuple[KeyPath, int]]:
    """Yield the lines of a node's parts, each node once, having made sure that they are what JSON could hold."""
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
            # The key's own line instead of its value's: where that is a block, it starts below.
            yield (*path, key.value), key.start_mark.line + 1


def _check_keys(node: yaml.MappingNode) -> None:
    given = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key.start_mark)
        if key.tag != _MERGE:
            key.tag = f"{_TAG}str"
            if key.value in given:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
        given.add(key.value)


def _check_tag(loader: _Loader, node: yaml.Node) -> None:
    is_other_than_it_looks = (
        isinstance(node, yaml.ScalarNode)
        and node.tag != f"{_TAG}str"
        and loader.resolve(yaml.ScalarNode, node.value, (True, False)) != node.tag  # type: ignore[no-untyped-call]
    )
    if node.tag not in _TAGS or is_other_than_it_looks:
        problem = f"{node.tag.replace(_TAG, '!!')} is not a tag that can be read here; leave it out"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _check_size(root: yaml.Node) -> None:
    """Refuse aliases of aliases that would expand without bounds."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if sizes.get(id(node)) == 0:
            raise ValueError("an alias refers to what it stands in")
        if id(node) not in sizes:
            sizes[id(node)] = 0
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            items = node.value if isinstance(node, yaml.SequenceNode) else [item for _, item in pairs]
            sizes[id(node)] = 1 + sum(size(item) for item in items)
        return sizes[id(node)]

    if size(root) > _MAX_VALUES:
        raise ValueError(f"its aliases expand to more than {_MAX_VALUES} values")
