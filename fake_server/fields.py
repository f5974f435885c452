"""The types that the keys of a script have: text, durations, JSON, paths, and the base of all mappings."""

import json
import re
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainValidator

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0}


class Part(BaseModel):
    """A mapping in a script; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def gives(self, key: str) -> bool:
        """Return whether the script gives `key`, even as null."""
        return key in self.model_fields_set


def as_list(value: object) -> list[Any]:
    """Return `value` as a list: null is an empty one, a single value is one of one item."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _check_text(value: object) -> str:
    # pydantic's own check rejects lone surrogates, which a fake deployment must be able to send
    if isinstance(value, str):
        return value
    raise ValueError(f"should be text, got {value!r}: put it in quotes")


def _parse_duration(value: object) -> float:
    if value == 0 and not isinstance(value, bool):
        return 0.0
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m)", value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"should be a duration such as 50ms, 1.5s or 2m, got {value!r}")
    return float(match[1]) * _UNITS_S[match[2]]


def _check_json(value: object) -> object:
    try:
        return cast("object", json.loads(json.dumps(value, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"should be JSON: {error}") from error


def _check_event(value: dict[str, Any]) -> dict[str, Any]:
    if isinstance(value.get("type"), str):
        return value
    raise ValueError("an event needs a 'type', such as type: provider.retry")


def _check_base_path(value: object) -> str:
    if isinstance(value, str) and re.fullmatch(r"(/[\w.~-]+)*", value):
        return value
    raise ValueError(f"should be a path such as /api/agent, got {value!r}")


Text = Annotated[str, PlainValidator(_check_text)]

BasePath = Annotated[str, PlainValidator(_check_base_path)]
"""The path of a URL: empty, or with a slash at its start and none at its end."""

Duration = Annotated[float, BeforeValidator(_parse_duration)]
"""Seconds, written as `50ms`, `1.5s` or `2m`; only 0 needs no unit."""

Json = Annotated[Any, BeforeValidator(_check_json)]
"""Any value that JSON can hold, as it is after a round trip through JSON."""

JsonObject = Annotated[dict[str, Any], BeforeValidator(_check_json)]

RawEvent = Annotated[JsonObject, AfterValidator(_check_event)]
"""An event of the wire, which needs a `type`."""
