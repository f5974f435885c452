"""The mistakes in a script, each as a line that says where, what and the likely fix."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fake_server._yaml import Document, parse_document

_SHAPES = {
    "model_type": "should be a mapping of keys to values",
    "dict_type": "should be a mapping of keys to values",
    "list_type": "should be a list, one line with '- ' an item",
    "too_short": "should hold at least one item",
    "missing": "is missing",
}


class ScriptError(ValueError):
    """A script that cannot be served: `problems` holds a line for every mistake."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def read_document(text: str, name: str) -> Document:
    """Return the YAML document in `text`, or raise `ScriptError`."""
    try:
        document = parse_document(text)
    except yaml.YAMLError as error:
        raise ScriptError([_syntax_problem(error, name)]) from error
    if repeated := document.duplicate_keys():
        raise ScriptError(f"{name}:{line}: key {key!r} stands here a second time" for line, key in repeated)
    if not isinstance(document.data, dict):
        raise ScriptError([f"{name}: should be a mapping with the key 'replies', got {_shown(document.data)}"])
    return document


def describe_errors(error: ValidationError, document: Document, name: str, root: type[BaseModel]) -> list[str]:
    """Return one line for each mistake pydantic found, in the order of the file."""
    found = [(document.line_of(one["loc"]), _reason(one, root)) for one in error.errors(include_url=False)]
    return [f"{name}:{line}: {reason}" for line, reason in sorted(found, key=lambda one: one[0])]


def _syntax_problem(error: yaml.YAMLError, name: str) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"{name}:{error.problem_mark.line + 1}: is not valid YAML: {error.problem}"
    return f"{name}: is not valid YAML: {' '.join(str(error).split())}"


def _reason(error: ErrorDetails, root: type[BaseModel]) -> str:
    *parents, last = error["loc"] or ("",)
    if error["type"] == "extra_forbidden":
        return f"{_path(parents)}unknown key {last!r}. {_suggestion(str(last), _keys_at(root, parents))}"
    where = _path(error["loc"])
    if error["type"] == "value_error":
        return f"{where}{error['ctx']['error']}"
    got = "" if error["type"] == "missing" else f", got {_shown(error['input'])}"
    return f"{where}{_SHAPES.get(error['type'], error['msg'])}{got}"


def _path(parts: Sequence[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return f"{text.lstrip('.')}: " if text else ""


def _suggestion(key: str, valid: list[str]) -> str:
    near = difflib.get_close_matches(key, valid, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Valid: {', '.join(valid)}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _keys_at(root: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    models = [root]
    for part in path:
        fields = [model.model_fields[part] for model in models if part in model.model_fields]
        models = [found for field in fields for found in _models_in(field.annotation)] or models
    return sorted(field.alias or name for model in models for name, field in model.model_fields.items())


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)
