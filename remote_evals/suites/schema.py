"""The JSON Schema of a suite file, made from the models that read one, for editors that complete and check it.

It accepts what should be written: a `${VAR}` wherever there may be a value, but not the quoted numbers that the models
forgive. Three mistakes are left to the models: a name given twice, a broken regular expression, an unset variable.
"""

from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from ..config.strict_model import StrictModel
from .eval_case import ACTIONS, CaseDefaults, EvalCase, SoftExpectations, Turn
from .expectations import Expectations
from .suite import Suite

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VARIABLE: Schema = {"type": "string", "pattern": r"\$\{"}


def make_suite_schema() -> Schema:
    """Return the schema of a suite file: a mapping with `cases`, or a list of cases."""
    schema = Suite.model_json_schema(schema_generator=_Generator)
    definitions = schema.pop("$defs")
    cases = schema["properties"]["cases"]
    return {
        "$schema": DIALECT,
        "title": "A suite of remote-evals",
        "anyOf": [{"$ref": "#/$defs/Suite"}, {**cases, "description": "Cases alone: a suite that says nothing else."}],
        "$defs": {"Suite": schema, **definitions},
    }


class _Generator(GenerateJsonSchema):
    """pydantic's generator, told about what `StrictModel` accepts and what files may hold in place of a value."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        model = schema["cls"]
        made.pop("title", None)
        made["description"] = (model.__doc__ or "").partition("\n\n")[0].replace("\n    ", " ")
        return _complete(model, made) if issubclass(model, StrictModel) else made

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        # What matters of a default is in the description; that nothing is asked by default goes without saying.
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        return _or_variable(super().int_schema(schema))

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return _or_variable(super().float_schema(schema))

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:
        return _or_variable(super().bool_schema(schema))

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        return _or_variable(super().literal_schema(schema))


def _or_variable(schema: JsonSchemaValue) -> JsonSchemaValue:
    return {"anyOf": [schema, _VARIABLE]}


def _complete(model: type[StrictModel], made: Schema) -> Schema:
    """Add the aliases of a model, and the rules between its keys."""
    properties = made["properties"]
    if model is Suite:
        properties["cases"]["minItems"] = 1
    if model is SoftExpectations:
        del properties["finish_reason"]
    for alias, key in model.aliases.items():
        properties[alias] = {**properties[key], "description": f"The same as `{key}`. {properties[key]['description']}"}
    needed = [_either(model, key) for key in made.pop("required", [])]
    rules = [*needed, *_between_keys(model)]
    return {**made, "allOf": rules} if rules else made


def _between_keys(model: type[StrictModel]) -> Iterator[Schema]:
    """Yield what `find_mistakes` of the models refuses, but for what no schema can say."""
    for alias, key in model.aliases.items():
        yield {"not": {"required": [key, alias]}}
    if issubclass(model, Expectations) and model is not CaseDefaults:
        exact = {"required": ["exact_tool_sequence"], "properties": {"exact_tool_sequence": {"const": True}}}
        yield {"if": exact, "then": _either(model, "tool_order", {"not": {"const": []}})}
    if model is Turn:
        yield {"oneOf": [_either(model, key, {"not": {"const": None}}) for key in ACTIONS]}
    if model is EvalCase:
        prompt = _either(model, "prompt", {"not": {"const": None}})
        yield {"oneOf": [prompt, _either(model, "turns", {"not": {"const": []}})]}


def _either(model: type[StrictModel], key: str, value: Schema | None = None) -> Schema:
    """Return that a key is there, by any of its spellings, with a value of this kind."""
    spellings = [key, *(alias for alias, name in model.aliases.items() if name == key)]
    rules = [{"required": [one], **({"properties": {one: value}} if value else {})} for one in spellings]
    return rules[0] if len(rules) == 1 else {"anyOf": rules}
