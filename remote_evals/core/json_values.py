"""How tool calls are compared, actual against expected, and how a difference is named by its path."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeGuard

from pydantic import BaseModel

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """Where an actual value departs from the expected one; `path` reads `items[0].sku`."""

    path: str
    text: str


def same_json(actual: Any, expected: Any) -> bool:
    """Say whether two values are the same JSON: `True` is not `1`, `1` equals `1.0`, key order never counts."""
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return actual.keys() == expected.keys() and all(same_json(actual[key], expected[key]) for key in expected)
    if _is_list(actual) and _is_list(expected):
        return len(actual) == len(expected) and all(map(same_json, actual, expected))
    return bool(actual == expected)


def is_number(value: object) -> TypeGuard[float]:
    """Say whether a JSON value is a number that a float can hold; in Python `True` would pass for one."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:
        return False


def find_differences(actual: Any, expected: Any, path: str = "") -> list[Difference]:
    """Return where `actual` lacks or contradicts `expected`; keys that were not asked for never count.

    Mappings match partially at every depth; lists must have the same length, their items matching in order.
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
    return [found for where, got, want in pairs for found in find_differences(got, want, where)]


def render_json(value: Any, limit: int = 200) -> str:
    """Return a value as one line of JSON, cut to `limit` characters; what JSON cannot hold is shown by `repr`."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):
        text = repr(value)
    except RecursionError:
        text = f"(a {type(value).__name__} nested too deeply to be shown)"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def render_number(value: float) -> str:
    """Return a number for a person: at most four decimals, or three digits of a tiny one."""
    if isinstance(value, int) or not isfinite(value):
        return str(value)
    return f"{value:.3g}" if 0 < abs(value) < 0.001 else f"{value:.4f}".rstrip("0").rstrip(".")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


_DEEPEST = 100
_TOO_DEEP = "[nested too deeply]"
# Agents of Azure, GitHub and TeamCity obey `##vso[…` and its like wherever it stands in a log.
_LOG_COMMAND = re.compile("#(?=#)")


def render_json_text(document: Mapping[str, Any]) -> str:
    """Return the document as JSON; whatever is in it, the text is valid, ASCII, and no command to a log."""
    return _LOG_COMMAND.sub(r"\\u0023", json.dumps(to_json_value(document), indent=2)) + "\n"


def to_json_value(value: Any, _around: tuple[int, ...] = ()) -> Any:
    """Return the value made of dicts, lists, strings, finite numbers, booleans and None only.

    A number that is not finite becomes "NaN", "Infinity" or "-Infinity"; what JSON has no word for, its `repr`; what
    lies deeper than 100 levels, or contains itself, a remark.
    """
    inside = (*_around, id(value))
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else json.dumps(value)
        case _ if len(_around) >= _DEEPEST or id(value) in _around:
            return _TOO_DEEP
        case BaseModel():
            return {name: to_json_value(item, inside) for name, item in value}
        case Mapping():
            return {_to_key(key): to_json_value(item, inside) for key, item in value.items()}
        case list() | tuple():
            return [to_json_value(item, inside) for item in value]
        case _:
            return repr(value)


def _to_key(key: Any) -> str:
    return key if isinstance(key, str) else repr(key)
