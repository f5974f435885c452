"""Compares JSON values, actual against expected, and renders them.

A difference is named by its path, as in `items[0].sku`. Values come from agents and in-process callables, so that some
hold what JSON cannot: those are rendered too.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeGuard

from pydantic import BaseModel

_ABSENT = object()

_MAX_DEPTH = 100
_TOO_DEEP = "[nested too deeply]"

# The log agents of Azure, GitHub and TeamCity obey `##vso[…` and the like anywhere in a log.
_LOG_COMMAND = re.compile("#(?=#)")


@dataclass(frozen=True, slots=True)
class Difference:
    """Where an actual value differs from the expected one; `path` reads `items[0].sku`."""

    path: str
    text: str


def find_differences(actual: Any, expected: Any, path: str = "") -> list[Difference]:
    """Return where `actual` lacks or contradicts `expected`; keys that are not expected are ignored.

    Mappings match partially at every depth. Lists must have the same length, and their items must match in order.
    """
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        pairs = [(f"{path}.{key}" if path else str(key), actual.get(key, _ABSENT), expected[key]) for key in expected]
    elif _is_list(actual) and _is_list(expected) and len(actual) == len(expected):
        pairs = [(f"{path}[{i}]", actual[i], expected[i]) for i in range(len(expected))]
    elif same_json(actual, expected):
        return []
    else:
        got = "nothing" if actual is _ABSENT else render_json(actual)
        return [Difference(path or "args", f"expected {render_json(expected)}, got {got}")]
    return [difference for where, got, want in pairs for difference in find_differences(got, want, where)]


def same_json(actual: Any, expected: Any) -> bool:
    """Return whether two values are the same JSON: `True` is not `1`, `1` equals `1.0`, key order is ignored."""
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return actual.keys() == expected.keys() and all(same_json(actual[key], expected[key]) for key in expected)
    if _is_list(actual) and _is_list(expected):
        return len(actual) == len(expected) and all(map(same_json, actual, expected))
    return bool(actual == expected)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a JSON value is a number that a float can hold; `True`, an `int` in Python, is not one."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def render_json(value: Any, limit: int = 200) -> str:
    """Return a value as one line of JSON, cut to `limit` characters; what JSON cannot hold is shown by its `repr`."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):
        text = repr(value)
    except RecursionError:
        text = f"(a {type(value).__name__} nested too deeply to be shown)"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def render_number(value: float) -> str:
    """Return a number for a person to read: at most four decimals, or three significant digits if it is tiny."""
    if isinstance(value, int) or not isfinite(value):
        return str(value)
    return f"{value:.3g}" if 0 < abs(value) < 0.001 else f"{value:.4f}".rstrip("0").rstrip(".")


def render_json_text(document: Mapping[str, Any]) -> str:
    """Return a document as JSON text; whatever it holds, the text is valid, ASCII, and no command to a CI log."""
    return _LOG_COMMAND.sub(r"\\u0023", json.dumps(to_json_value(document), indent=2)) + "\n"


def to_json_value(value: Any, _parents: tuple[int, ...] = ()) -> Any:
    """Return the value as dicts, lists, strings, finite numbers, booleans and None only.

    A number that is not finite becomes "NaN", "Infinity" or "-Infinity". What JSON has no type for becomes its `repr`.
    What lies deeper than 100 levels, or contains itself, becomes "[nested too deeply]".
    """
    inside = (*_parents, id(value))
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else json.dumps(value)
        case _ if len(_parents) >= _MAX_DEPTH or id(value) in _parents:
            return _TOO_DEEP
        case BaseModel():
            return {name: to_json_value(item, inside) for name, item in value}
        case Mapping():
            return {_to_key(key): to_json_value(item, inside) for key, item in value.items()}
        case list() | tuple():
            return [to_json_value(item, inside) for item in value]
        case _:
            return repr(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _to_key(key: Any) -> str:
    return key if isinstance(key, str) else repr(key)
