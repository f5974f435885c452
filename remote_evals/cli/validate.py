"""`remote-evals validate`: whether suites are right, without running them."""

import os

import typer

from ..loading import load_suites
from ._exit import usage_errors
from ._options import Suites


def validate(suites: Suites = None) -> None:
    """Check suite files and report every mistake in them at once, each with its file and line."""
    with usage_errors():
        loaded = load_suites(suites or [], os.environ)
    for one in loaded:
        typer.echo(f"{one.file}: ok, {one.case_count} case(s)")
