"""What a single value of a script may be: text, a duration, JSON."""

import json
import re
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BeforeValidator, PlainValidator

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0}


def check_text(value: object) -> str:
    """Return `value` when it is text, lone surrogates and all, which pydantic's own check refuses."""
    if isinstance(value, str):
        return value
    raise ValueError(f"should be text, got {value!r}: put it in quotes")


def parse_duration(value: object) -> float:
    """Return the seconds of `50ms`, `1.5s` or `2m`; only 0 needs no unit."""
    if value == 0 and not isinstance(value, bool):
        return 0.0
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m)", value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"should be a duration such as 50ms, 1.5s or 2m, got {value!r}")
    return float(match[1]) * _UNITS_S[match[2]]


def check_json(value: object) -> object:
    """Return `value` as it is once it went through JSON."""
    try:
        return cast("object", json.loads(json.dumps(value, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"should be JSON: {error}") from error


def check_event(value: dict[str, Any]) -> dict[str, Any]:
    """Return `value` when it has a `type`, as every event of the wire."""
    if isinstance(value.get("type"), str):
        return value
    raise ValueError("an event needs a 'type', such as type: provider.retry")


def check_base_path(value: object) -> str:
    """Return `value` when a URL can go on with it after the host: it starts with a slash and ends with none."""
    if isinstance(value, str) and re.fullmatch(r"(/[\w.~-]+)*", value):
        return value
    raise ValueError(f"should be a path such as /api/agent, got {value!r}")


Text = Annotated[str, PlainValidator(check_text)]
BasePath = Annotated[str, PlainValidator(check_base_path)]
Duration = Annotated[float, BeforeValidator(parse_duration)]
Json = Annotated[Any, BeforeValidator(check_json)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(check_json)]
RawEvent = Annotated[JsonObject, AfterValidator(check_event)]
