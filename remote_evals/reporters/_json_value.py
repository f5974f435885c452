"""Any value that an agent or an in-process callable gave, as JSON can hold it."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from pydantic import BaseModel

_DEEPEST = 100
_TOO_DEEP = "[nested too deeply]"


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
