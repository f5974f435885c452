"""`remote-evals validate`: whether suites are right, without running them."""

import os

import typer

from ..reporters import show_line
from ..suites.loading import load_suites
from ._options import Config, Suites
from ._settings import load_chosen
from ._stderr import usage_errors


def validate(suites: Suites = None, config: Config = None) -> None:
    """Check suite files and report every mistake in them at once, each with its file and line."""
    with usage_errors():
        loaded = load_suites(load_chosen(config, None).suites(suites), os.environ)
    for one in loaded:
        typer.echo(show_line(f"{one.file}: ok, {one.case_count} case(s)"))
