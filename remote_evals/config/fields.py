"""Fields that several of our own files have."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeFloat, NonNegativeInt

from ..core.durations import parse_duration
from ..core.urls import parse_base_url


def as_list(value: Any) -> Any:
    """Return a list of what may be given alone."""
    return [value] if isinstance(value, str | Mapping) else value


def _milliseconds(value: Any) -> Any:
    # A bare number is in what the key's name says; only a unit makes it a duration.
    return parse_duration(value) * 1000 if isinstance(value, str) and value.strip()[-1:].isalpha() else value


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"Input should be a number, got {str(value).lower()}")
    return value


# The `json_schema_input_type` of a validator says to the schema of a suite what else than the value may be written.
Text = Annotated[str, Field(min_length=1)]
OneOrMore = BeforeValidator(as_list, json_schema_input_type=Text | tuple[Text, ...])
Texts = Annotated[tuple[Text, ...], OneOrMore]


Count = Annotated[NonNegativeInt, BeforeValidator(_number)]
Amount = Annotated[NonNegativeFloat, BeforeValidator(_number)]
Duration = NonNegativeFloat | Annotated[str, Field(pattern=r"^\s*\d+(\.\d+)?\s*(ms|s|m|h)?\s*$")]
Milliseconds = Annotated[Amount, BeforeValidator(_milliseconds, json_schema_input_type=Duration)]


Seconds = Annotated[NonNegativeFloat, BeforeValidator(parse_duration, json_schema_input_type=Duration)]


BaseUrl = Annotated[str, AfterValidator(parse_base_url), Field(json_schema_extra={"pattern": r"^\s*https?://|\$\{"})]
