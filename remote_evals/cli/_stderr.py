"""What the commands say on stderr of mistakes and dangers."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..errors import SuiteError, UsageError
from ._exit import USAGE


def tell(*mistakes: str) -> None:
    """Write mistakes to stderr, a line each."""
    for mistake in mistakes:
        typer.echo(f"error: {mistake}", err=True)


def warn(remark: str) -> None:
    """Write to stderr what is dangerous and goes on all the same."""
    typer.echo(f"warning: {remark}", err=True)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn a `UsageError` into its message on stderr and exit code 2."""
    try:
        yield
    except SuiteError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from None
    except UsageError as error:
        tell(*str(error).splitlines())
        raise typer.Exit(USAGE) from None
