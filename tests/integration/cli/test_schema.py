"""What `remote-evals schema` prints."""

import json

import jsonschema

from remote_evals.suites.schema import make_suite_schema
from tests.serving.command import remote_evals


def test_it_prints_the_schema_and_nothing_else() -> None:
    """Standard output is the schema as JSON and can be redirected to a file."""
    done = remote_evals("schema")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == make_suite_schema()


def test_what_it_prints_is_a_schema() -> None:
    """The output names its dialect and is a valid schema of it."""
    schema = json.loads(remote_evals("schema").out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


def test_it_is_the_same_in_any_encoding() -> None:
    """The output is ASCII, so that no terminal or locale can break it."""
    assert remote_evals("schema", env={"PYTHONIOENCODING": "ascii"}).out.isascii()
