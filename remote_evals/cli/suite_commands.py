"""The commands `list`, `validate`, `schema` and `init`, which send nothing."""

import json
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from ..reporters import escape_control_chars
from ..suites.loading import load_suites
from ..suites.schema import make_suite_schema
from ..suites.starter import FAKE_SCRIPT, SUITE, WORKFLOW, write_starter_files
from .exits import decide_list_exit_code, exit_on_usage_error
from .options import Config, SelectionOptions, Suites, expand_groups
from .output import print_evals
from .run_setup import load_command_settings, load_evals

_NEXT = """
Next:
  1. See it pass against a fake agent:
       remote-evals run {suite} --fake {fake}
  2. Write cases for your own agent into it, and run them against your deployment, with its token in a variable:
       remote-evals run {suite} --url https://agent.example.com --token-env AGENT_TOKEN
  3. For {workflow}, which GitHub reads at the root of a repository,
     set the variable AGENT_URL and the secret AGENT_TOKEN in the repository's settings."""


@expand_groups
def list_(*, suites: Suites = None, selection: SelectionOptions, config: Config = None) -> None:
    """List the cases in suites, with their files and tags, without running them."""
    with exit_on_usage_error():
        evals = load_evals(load_command_settings(config, None).choose_suites(suites))
    selected = selection.select(evals)
    print_evals(selected)
    raise typer.Exit(decide_list_exit_code(selected))


def validate(suites: Suites = None, config: Config = None) -> None:
    """Check suite files and report every problem in them at once, each with its file and line."""
    with exit_on_usage_error():
        loaded = load_suites(load_command_settings(config, None).choose_suites(suites), os.environ)
    for one in loaded:
        typer.echo(escape_control_chars(f"{one.file}: ok, {one.case_count} case(s)"))


def schema() -> None:
    """Print the JSON Schema of a suite file, so that an editor can complete and check it."""
    typer.echo(json.dumps(make_suite_schema(), indent=2))


def init(
    folder: Annotated[
        Path,
        typer.Argument(metavar="[FOLDER]", help="Folder to write to. Default: the current folder.", show_default=False),
    ] = Path(),
) -> None:
    """Write a first suite, a fake agent to try it against, and a CI workflow. Never overwrites a file."""
    with exit_on_usage_error():
        for path, is_new in write_starter_files(folder):
            typer.echo(f"wrote {path}" if is_new else f"left {path} as it is: it exists already")
    names = {"suite": SUITE, "fake": FAKE_SCRIPT, "workflow": WORKFLOW}
    typer.echo(_NEXT.format_map({key: shlex.quote(str(folder / name)) for key, name in names.items()}))
