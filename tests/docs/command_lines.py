"""The commands and options that pages may name, and command lines parsed as the command itself parses them."""

import shlex
from functools import cache

from typer.testing import CliRunner

from remote_evals.cli.app import app
from tests.docs.pages import named_options

COMMANDS = ("run", "list", "validate", "doctor", "init", "schema")


@cache
def list_options(command: str) -> set[str]:
    """Return the long options of a command, as its help lists them."""
    return named_options(_invoke(command)[1])


def explain_command_line(line: str) -> str | None:
    """Return what is wrong with the options of a line `remote-evals COMMAND …`, or None if they can be parsed."""
    program, *arguments = shlex.split(line, comments=True)
    assert program == "remote-evals", line
    # The help is shown only once all options were parsed.
    code, output = _invoke(*arguments)
    return f"{line}: {output}" if code else None


def _invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner(env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}).invoke(app, [*arguments, "--help"])
    return result.exit_code, result.output
