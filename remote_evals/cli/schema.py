"""`remote-evals schema`: what a suite may hold, for an editor."""

import json

import typer

from ..suites.schema import make_suite_schema


def schema() -> None:
    """Print the JSON Schema of a suite file, with which an editor completes and checks it."""
    typer.echo(json.dumps(make_suite_schema(), indent=2))
