"""Our own files are strict: an unknown key is refused with the nearest valid one, and every mistake is told at once."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from ..core.text import suggest

# pydantic names Python's types; people write YAML and JSON.
_SHAPES = {
    "tuple_type": "Input should be a list",
    "dict_type": "Input should be a mapping",
    "model_type": "Input should be a mapping",
}

Problem = tuple[tuple[str | int, ...], str]


class StrictModel(BaseModel):
    """A model of what people write; the docstring under a field describes it to them.

    `aliases` maps other accepted spellings of its keys to the field names. `refused` maps keys that are unknown for a
    reason to what is said about them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    aliases: ClassVar[Mapping[str, str]] = {}
    refused: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def valid_keys(cls) -> list[str]:
        """Return every key that is accepted, aliases too."""
        return [*(field.alias or name for name, field in cls.model_fields.items()), *cls.aliases]

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what is wrong between keys, each with its path; `data` has field names as keys, unvalidated values.

        Asked of the raw data, so that a wrong value elsewhere does not hide the answer.
        """
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _explain_mistakes(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        spelling = {cls.aliases.get(key, key): key for key in data}
        named = {cls.aliases.get(key, key): value for key, value in data.items()}
        mistakes = [_both_given(cls.aliases, key, spelling) for key in data if key not in spelling.values()]
        mistakes += [_mistake("inconsistent", text, loc, None) for loc, text in cls.find_mistakes(named)]
        try:
            model = handler(named)
        except ValidationError as error:
            mistakes += [_explain(details, spelling, cls) for details in error.errors()]
        if mistakes:
            raise ValidationError.from_exception_data(cls.__name__, mistakes)
        return model


def _explain(details: ErrorDetails, spelling: Mapping[str, str], model: type[StrictModel]) -> InitErrorDetails:
    field, *rest = details["loc"] or ("",)
    key = spelling.get(str(field), field)
    text = _SHAPES.get(details["type"]) or details["msg"].removeprefix("Value error, ")
    if details["type"] == "extra_forbidden" and not rest:
        text = model.refused.get(str(key)) or f"unknown key {key!r}; {suggest(str(key), model.valid_keys())}"
    return _mistake(details["type"], text, (key, *rest) if details["loc"] else (), details["input"])


def _both_given(aliases: Mapping[str, str], key: str, spelling: Mapping[str, str]) -> InitErrorDetails:
    other = spelling[aliases.get(key, key)]
    return _mistake("given_twice", f"{key!r} and {other!r} mean the same; keep one", (key,), None)


def _mistake(kind: str, text: str, loc: tuple[int | str, ...], got: Any) -> InitErrorDetails:
    # The context keeps braces in the text from being taken for placeholders.
    return InitErrorDetails(type=PydanticCustomError(kind, "{text}", {"text": text}), loc=loc, input=got)
