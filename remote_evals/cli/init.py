"""`remote-evals init`: a first suite, and what to do with it."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ..suites.starter import FAKE_SCRIPT, SUITE, WORKFLOW, write_first_files
from ._stderr import usage_errors

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
        for path, is_new in write_first_files(folder):
            typer.echo(f"wrote {path}" if is_new else f"left {path} as it is: it exists already")
    names = {"suite": SUITE, "fake": FAKE_SCRIPT, "workflow": WORKFLOW}
    typer.echo(_NEXT.format_map({key: shlex.quote(str(folder / name)) for key, name in names.items()}))
