"""What is wrong with a script: one line per problem, which says where, what and the likely fix.

YAML is read so that each value keeps its line number.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_SHAPES = {
    "model_type": "should be a mapping of keys to values",
    "dict_type": "should be a mapping of keys to values",
    "list_type": "should be a list, with one '- ' line per item",
    "too_short": "should have at least one item",
    "missing": "is missing",
}


class ScriptError(ValueError):
    """A script that cannot be served; `problems` has one line per problem."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True)
class Document:
    """The data of a YAML text, and the nodes it was made from."""

    data: object
    root: yaml.Node | None

    def get_line(self, path: Sequence[str | int]) -> int:
        """Return the line on which the value at `path` starts, or that of its nearest parent in the text."""
        node, line = self.root, 1
        for part in path:
            for key, value in _get_children(node):
                if _get_name(key) == part:
                    node, line = value, (key if isinstance(key, yaml.Node) else value).start_mark.line + 1
                    break
        return line

    def find_duplicate_keys(self) -> list[tuple[int, str]]:
        """Return the line and name of every key that its mapping already has."""
        return [(key.start_mark.line + 1, str(key.value)) for node in _walk(self.root) for key in _find_repeated(node)]


def read_document(text: str, name: str) -> Document:
    """Return the YAML document in `text`, or raise `ScriptError`."""
    try:
        document = _parse_yaml(text)
    except yaml.YAMLError as error:
        raise ScriptError([_describe_syntax_error(error, name)]) from error
    if repeated := document.find_duplicate_keys():
        raise ScriptError(f"{name}:{line}: duplicate key {key!r}" for line, key in repeated)
    if not isinstance(document.data, dict):
        raise ScriptError([f"{name}: should be a mapping with the key 'replies', got {_shorten(document.data)}"])
    return document


def describe_errors(error: ValidationError, document: Document, name: str, root: type[BaseModel]) -> list[str]:
    """Return one line for each error that pydantic found, in the order of the file."""
    found = [(document.get_line(one["loc"]), _describe(one, root)) for one in error.errors(include_url=False)]
    return [f"{name}:{line}: {problem}" for line, problem in sorted(found, key=lambda one: one[0])]


def _parse_yaml(text: str) -> Document:
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        return Document(None if root is None else loader.construct_document(root), root)
    finally:
        loader.dispose()


def _describe_syntax_error(error: yaml.YAMLError, name: str) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"{name}:{error.problem_mark.line + 1}: is not valid YAML: {error.problem}"
    return f"{name}: is not valid YAML: {' '.join(str(error).split())}"


def _describe(error: ErrorDetails, root: type[BaseModel]) -> str:
    *parents, last = error["loc"] or ("",)
    if error["type"] == "extra_forbidden":
        return f"{_render_path(parents)}unknown key {last!r}. {_suggest(str(last), _list_keys(root, parents))}"
    where = _render_path(error["loc"])
    if error["type"] == "value_error":
        return f"{where}{error['ctx']['error']}"
    got = "" if error["type"] == "missing" else f", got {_shorten(error['input'])}"
    return f"{where}{_SHAPES.get(error['type'], error['msg'])}{got}"


def _render_path(parts: Sequence[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return f"{text.lstrip('.')}: " if text else ""


def _suggest(key: str, valid: list[str]) -> str:
    near = difflib.get_close_matches(key, valid, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Valid: {', '.join(valid)}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _list_keys(root: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    models = [root]
    for part in path:
        fields = [model.model_fields[part] for model in models if part in model.model_fields]
        models = [found for field in fields for found in _find_models(field.annotation)] or models
    return sorted(field.alias or name for model in models for name, field in model.model_fields.items())


def _find_models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _find_models(inner)


def _get_children(node: yaml.Node | None) -> list[tuple[Any, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        return list(node.value)
    return list(enumerate(node.value)) if isinstance(node, yaml.SequenceNode) else []


def _get_name(key: Any) -> object:
    return key.value if isinstance(key, yaml.Node) else key


def _walk(root: yaml.Node | None) -> Iterator[yaml.Node]:
    seen: set[int] = set()
    waiting = [root] if root else []
    while waiting:
        node = waiting.pop(0)
        # an alias can stand inside the value that it names
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(child for _, child in _get_children(node))


def _find_repeated(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    seen: set[object] = set()
    for key, _ in _get_children(node):
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                yield key
            seen.add(key.value)


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
