"""The JSON Schema of a suite file, made from the models of the loader, for editors that complete and check suites.

The schema accepts what people should write: a `${VAR}` in place of any value, but not the quoted numbers that the
models also accept. It cannot find a repeated name, an invalid regular expression or an unset variable; only the models
do.
"""

from collections.abc import Iterator
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from ..config.strict_model import StrictModel
from .eval_case import ACTIONS, ALL, DETAILS, CaseDefaults, EvalCase, SoftExpectations, Turn
from .expectations import Expectations
from .suite import Suite

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_VARIABLE: Schema = {"type": "string", "pattern": r"\$\{"}


def make_suite_schema() -> Schema:
    """Return the schema of a suite file: a mapping with `cases`, or a list of cases."""
    suite = Suite.model_json_schema(schema_generator=_Generator)
    definitions = suite.pop("$defs")
    cases = suite["properties"]["cases"]
    return {
        "$schema": DIALECT,
        "title": "A remote-evals suite",
        "anyOf": [{"$ref": "#/$defs/Suite"}, {**cases, "description": "Only the cases: a suite without other keys."}],
        "$defs": {"Suite": suite, **definitions},
    }


class _Generator(GenerateJsonSchema):
    """pydantic's generator, extended by the aliases and rules of `StrictModel` and by variables in place of values."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        generated = super().model_schema(schema)
        model = schema["cls"]
        generated.pop("title", None)
        generated["description"] = (model.__doc__ or "").partition("\n\n")[0].replace("\n    ", " ")
        return _complete_schema(model, generated) if issubclass(model, StrictModel) else generated

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        # A default that matters is in the description of its key; the others only mean that nothing is checked.
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        return _allow_variable(super().int_schema(schema))

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return _allow_variable(super().float_schema(schema))

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:
        return _allow_variable(super().bool_schema(schema))

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        return _allow_variable(super().literal_schema(schema))


def _allow_variable(schema: JsonSchemaValue) -> JsonSchemaValue:
    return {"anyOf": [schema, _VARIABLE]}


def _complete_schema(model: type[StrictModel], schema: Schema) -> Schema:
    """Return the schema of a model with its aliases and the rules between its keys added."""
    properties = schema["properties"]
    if model is Suite:
        properties["cases"]["minItems"] = 1
    if model is SoftExpectations:
        del properties["finish_reason"]
    for alias, key in model.aliases.items():
        properties[alias] = {**properties[key], "description": f"The same as `{key}`. {properties[key]['description']}"}
    required = [_require(model, key) for key in schema.pop("required", [])]
    rules = [*required, *_make_rules(model)]
    return {**schema, "allOf": rules} if rules else schema


def _make_rules(model: type[StrictModel]) -> Iterator[Schema]:
    """Yield the rules of the models' `find_problems`, as far as a schema can express them."""
    for alias, key in model.aliases.items():
        yield {"not": {"required": [key, alias]}}
    if issubclass(model, Expectations) and model is not CaseDefaults:
        exact = {"required": ["exact_tool_sequence"], "properties": {"exact_tool_sequence": {"const": True}}}
        yield {"if": exact, "then": _require(model, "tool_order", {"not": {"const": []}})}
    if model is Turn:
        yield {"oneOf": [_require(model, key, {"not": {"const": None}}) for key in ACTIONS]}
        for key, decisions in DETAILS.items():
            allowed = [_require(model, one, {"not": {"enum": [None, ALL]}}) for one in decisions]
            yield {"if": _require(model, key, {"not": {"const": None}}), "then": {"anyOf": allowed}}
    if model is EvalCase:
        prompt = _require(model, "prompt", {"not": {"const": None}})
        yield {"oneOf": [prompt, _require(model, "turns", {"not": {"const": []}})]}


def _require(model: type[StrictModel], key: str, value: Schema | None = None) -> Schema:
    """Return a rule that a key, in any of its spellings, must be present, with a value of this schema if given."""
    spellings = [key, *(alias for alias, name in model.aliases.items() if name == key)]
    rules = [{"required": [one], **({"properties": {one: value}} if value else {})} for one in spellings]
    return rules[0] if len(rules) == 1 else {"anyOf": rules}
