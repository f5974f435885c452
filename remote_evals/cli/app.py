"""The Typer application: all commands, and the options of `remote-evals` itself."""

from typing import Annotated

import typer

from .._version import __version__
from .doctor import doctor
from .run import run
from .suite_commands import init, list_, schema, validate

app = typer.Typer(
    help="Check that a deployed AI agent still works: that it calls the right tools, gives the right replies and "
    "stays within its limits.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback must never show locals: one of them may hold a token.
    pretty_exceptions_enable=False,
)
app.command()(run)
app.command("list")(list_)
app.command()(validate)
app.command()(doctor)
app.command()(init)
app.command()(schema)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"remote-evals {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
