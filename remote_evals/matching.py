"""How tool calls are compared, actual against expected, and how a difference is named by its path."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeGuard

from .results import ToolCall

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


def split_alternatives(name: str) -> list[str]:
    """Return the tool names that "a|b" allows."""
    return [part.strip() for part in name.split("|")]


def select_calls(
    calls: Iterable[ToolCall], names: Collection[str] | None = None, subagent: str | None = None
) -> list[ToolCall]:
    """Return the calls of these tools (of any for None) by `subagent` and those under it (by any agent for None)."""
    return [
        call
        for call in calls
        if (names is None or call.name in names) and (subagent is None or subagent in call.subagent_path)
    ]


def find_closest(calls: Sequence[ToolCall], args: Mapping[str, Any]) -> list[Difference]:
    """Return the differences of the call whose args come nearest to the expected ones; `calls` must not be empty."""
    return min((find_differences(call.args, args) for call in calls), key=len)


def find_order_break(actual: Sequence[str], expected: Sequence[str]) -> str | None:
    """Return the first expected name that does not follow the ones before it, None when all come in order."""
    seen = iter(actual)
    return next((name for name in expected if not any(call in split_alternatives(name) for call in seen)), None)


def is_exact_order(actual: Sequence[str], expected: Sequence[str]) -> bool:
    """Say whether the calls were these, in this order, and no others."""
    return len(actual) == len(expected) and find_order_break(actual, expected) is None


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
