"""`remote-evals list`: which cases there are."""

import json
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ..reporters import escape_control_chars
from ..suites.loading import load_suites, make_evals
from ..suites.schema import make_suite_schema
from ..suites.starter import FAKE_SCRIPT, SUITE, WORKFLOW, write_starter_files
from .exits import decide_list_exit_code, usage_errors
from .options import ChoiceOptions, Config, Suites, grouped
from .output import show_evals
from .setup import load_chosen


@grouped
def list_(*, suites: Suites = None, choice: ChoiceOptions, config: Config = None) -> None:
    """List the cases of suites, with their files and tags, without running them."""
    with usage_errors():
        evals = make_evals(load_suites(load_chosen(config, None).suites(suites), os.environ))
    chosen = choice.select(evals)
    show_evals(chosen)
    raise typer.Exit(decide_list_exit_code(chosen))


def validate(suites: Suites = None, config: Config = None) -> None:
    """Check suite files and report every mistake in them at once, each with its file and line."""
    with usage_errors():
        loaded = load_suites(load_chosen(config, None).suites(suites), os.environ)
    for one in loaded:
        typer.echo(escape_control_chars(f"{one.file}: ok, {one.case_count} case(s)"))


def schema() -> None:
    """Print the JSON Schema of a suite file, with which an editor completes and checks it."""
    typer.echo(json.dumps(make_suite_schema(), indent=2))


_NEXT = """
Next:
  1. See it pass, against a fake agent:
       remote-evals run {suite} --fake {fake}
  2. Write your own agent's cases into it, and run them against your deployment, its token in a variable:
       remote-evals run {suite} --url https://agent.example.com --token-env AGENT_TOKEN
  3. For {workflow}, which GitHub reads at the root of a repository,
     set the variable AGENT_URL and the secret AGENT_TOKEN in the repository's settings."""


def init(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where to write.", show_default=False)] = Path(),
) -> None:
    """Write a first suite, a fake agent to try it against, and a CI workflow. Nothing is overwritten."""
    with usage_errors():
        for path, is_new in write_starter_files(folder):
            typer.echo(f"wrote {path}" if is_new else f"left {path} as it is: it exists already")
    names = {"suite": SUITE, "fake": FAKE_SCRIPT, "workflow": WORKFLOW}
    typer.echo(_NEXT.format_map({key: shlex.quote(str(folder / name)) for key, name in names.items()}))
