"""Field types shared by the models of suites and settings, such as texts, limits, durations and URLs."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PlainValidator,
    WithJsonSchema,
)

from ..core.durations import parse_duration
from ..core.prompts import Prompt, find_prompt_problem
from ..core.urls import parse_base_url


def as_list(value: Any) -> Any:
    """Return a single text or mapping as a list of one, and anything else unchanged."""
    return [value] if isinstance(value, str | Mapping) else value


def _refuse_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"Input should be a number, got {str(value).lower()}")
    return value


def _parse_milliseconds(value: Any) -> Any:
    # A bare number is in milliseconds, as the key says; only a unit makes it a duration.
    return parse_duration(value) * 1000 if isinstance(value, str) and value.strip()[-1:].isalpha() else value


def _check_prompt(value: Any) -> Any:
    if problem := find_prompt_problem(value):
        raise ValueError(problem)
    return value


# `json_schema_input_type` tells the JSON Schema of a suite what may be written besides the value itself.
Text = Annotated[str, Field(min_length=1)]
OneOrMore = BeforeValidator(as_list, json_schema_input_type=Text | tuple[Text, ...])
Texts = Annotated[tuple[Text, ...], OneOrMore]

_PART_SCHEMA = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"type": "string", "minLength": 1}},
    "if": {"properties": {"type": {"const": "text"}}},
    "then": {"required": ["text"], "properties": {"text": {"type": "string"}}},
}
_PROMPT_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": _PART_SCHEMA}]
}
PromptField = Annotated[Prompt, PlainValidator(_check_prompt), WithJsonSchema(_PROMPT_SCHEMA)]

Count = Annotated[NonNegativeInt, BeforeValidator(_refuse_boolean)]
Amount = Annotated[NonNegativeFloat, BeforeValidator(_refuse_boolean)]

Duration = NonNegativeFloat | Annotated[str, Field(pattern=r"^\s*\d+(\.\d+)?\s*(ms|s|m|h)?\s*$")]
Milliseconds = Annotated[Amount, BeforeValidator(_parse_milliseconds, json_schema_input_type=Duration)]
Seconds = Annotated[NonNegativeFloat, BeforeValidator(parse_duration, json_schema_input_type=Duration)]

BaseUrl = Annotated[str, AfterValidator(parse_base_url), Field(json_schema_extra={"pattern": r"^\s*https?://|\$\{"})]
