"""`remote-evals list`: which cases there are."""

import os

import typer

from ..loading import load_suites, make_evals
from ..reporters import show_line
from ..selection import find_unmatched, select_evals
from ._exit import FAILED, tell, usage_errors
from ._options import Only, Suites, Tags, split_commas


def list_(suites: Suites = None, tag: Tags = None, only: Only = None) -> None:
    """List the cases of suites, with their files and tags, without running them."""
    with usage_errors():
        evals = make_evals(load_suites(suites or [], os.environ), lambda _: None)
    tags, names = split_commas(tag), only or []
    if unmatched := find_unmatched(evals, tags=tags, only=names):
        tell(*unmatched)
        raise typer.Exit(FAILED)
    chosen = select_evals(evals, tags=tags, only=names)
    for eval_ in chosen:
        marks = f"  [{', '.join(eval_.tags)}]" if eval_.tags else ""
        typer.echo(show_line(f"{eval_.file}: {eval_.name}{marks}"))
