"""`remote-evals list`: which cases there are."""

import os

import typer

from ..suites.loading import load_suites, make_evals
from ._exit import decide_list_exit_code
from ._groups import grouped
from ._options import ChoiceOptions, Config, Suites
from ._output import show_evals
from ._settings import load_chosen
from ._stderr import usage_errors


@grouped
def list_(*, suites: Suites = None, choice: ChoiceOptions, config: Config = None) -> None:
    """List the cases of suites, with their files and tags, without running them."""
    with usage_errors():
        evals = make_evals(load_suites(load_chosen(config, None).suites(suites), os.environ))
    chosen = choice.select(evals)
    show_evals(chosen)
    raise typer.Exit(decide_list_exit_code(chosen))
