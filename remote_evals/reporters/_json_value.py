"""Any value that an agent or an in-process callable gave, as JSON can hold it."""

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

from pydantic import BaseModel

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
