"""`remote-evals list`: which cases there are."""

import os

import typer

from ..loading import load_suites, make_evals
from ..selection import find_unmatched, select_evals
from ._exit import FAILED, tell, usage_errors
from ._options import Config, Only, Suites, Tags, split_commas
from ._output import show_evals
from ._settings import load_chosen


def list_(suites: Suites = None, tag: Tags = None, only: Only = None, config: Config = None) -> None:
    """List the cases of suites, with their files and tags, without running them."""
    with usage_errors():
        evals = make_evals(load_suites(load_chosen(config, None).suites(suites), os.environ))
    tags, names = split_commas(tag), only or []
    if unmatched := find_unmatched(evals, tags=tags, only=names):
        tell(*unmatched)
        raise typer.Exit(FAILED)
    raise typer.Exit(show_evals(select_evals(evals, tags=tags, only=names)))
