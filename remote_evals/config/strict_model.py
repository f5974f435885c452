"""Strict models of the files that people write: an unknown key is refused, and every problem is reported at once.

An unknown key is reported with the nearest valid one.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from ..core.text import suggest
from .problems import KeyPath, Problem

# pydantic names Python's types; people write YAML and JSON.
_SHAPES = {
    "tuple_type": "Input should be a list",
    "dict_type": "Input should be a mapping",
    "model_type": "Input should be a mapping",
}


class StrictModel(BaseModel):
    """A model of something that people write; the docstring below each field is its description in the JSON Schema.

    `aliases` maps alternative spellings of keys to the names of their fields. `refused` maps keys that people may
    expect, but that are not accepted, to the message about them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    aliases: ClassVar[Mapping[str, str]] = {}
    refused: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def valid_keys(cls) -> list[str]:
        """Return every accepted key, including aliases."""
        return [*(field.alias or name for name, field in cls.model_fields.items()), *cls.aliases]

    @classmethod
    def find_problems(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the problems between keys; `data` maps field names to values that are not validated yet.

        It reads the raw data, so that a wrong value elsewhere does not hide these problems.
        """
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _report_all_problems(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        spelling = {cls.aliases.get(key, key): key for key in data}
        named = {cls.aliases.get(key, key): value for key, value in data.items()}
        errors = [_make_duplicate_error(cls.aliases, key, spelling) for key in data if key not in spelling.values()]
        errors += [_make_error("inconsistent", text, path, None) for path, text in cls.find_problems(named)]
        try:
            model = handler(named)
        except ValidationError as error:
            errors += [_translate_error(details, spelling, cls) for details in error.errors()]
        if errors:
            raise ValidationError.from_exception_data(cls.__name__, errors)
        return model


def _translate_error(details: ErrorDetails, spelling: Mapping[str, str], model: type[StrictModel]) -> InitErrorDetails:
    """Return pydantic's error in the words of the file, with the key as it is spelled there."""
    field, *rest = details["loc"] or ("",)
    key = spelling.get(str(field), field)
    text = _SHAPES.get(details["type"]) or details["msg"].removeprefix("Value error, ")
    if details["type"] == "extra_forbidden" and not rest:
        text = model.refused.get(str(key)) or f"unknown key {key!r}; {suggest(str(key), model.valid_keys())}"
    return _make_error(details["type"], text, (key, *rest) if details["loc"] else (), details["input"])


def _make_duplicate_error(aliases: Mapping[str, str], key: str, spelling: Mapping[str, str]) -> InitErrorDetails:
    other = spelling[aliases.get(key, key)]
    return _make_error("given_twice", f"{key!r} and {other!r} mean the same; keep one", (key,), None)


def _make_error(kind: str, text: str, path: KeyPath, got: Any) -> InitErrorDetails:
    # Passed as context, since pydantic would take braces in the text for placeholders.
    return InitErrorDetails(type=PydanticCustomError(kind, "{text}", {"text": text}), loc=path, input=got)
