"""A check-up as the command makes it: interruptible, printed as it goes on, and with an exit code at the end."""

import asyncio
from datetime import UTC, datetime

import typer
from rich.console import Console

from ..doctor import (
    Callers,
    Checkup,
    Dialogue,
    Report,
    examine,
    render_findings,
    render_head,
    render_json_page,
    render_verdict,
)
from ..errors import RemoteUnauthorizedError
from ..reporters._lines import print_lines
from ._exit import FAILED, PASSED, UNAUTHORIZED, UNJUDGED, exit_code_of
from ._interrupt import Interrupts


def print_page(callers: Callers, dialogue: Dialogue, interrupts: Interrupts) -> Checkup:
    """Print each finding as soon as it is there, so that a slow deployment is seen to be one."""
    console = Console()
    print_lines(render_head(callers.owner.description), console)
    checkup = _run(callers, dialogue, lambda found: print_lines(render_findings(found), console), interrupts)
    print_lines(render_verdict(checkup), console)
    return checkup


def print_json(callers: Callers, dialogue: Dialogue, interrupts: Interrupts) -> Checkup:
    """Print all findings as one JSON document."""
    started_at = datetime.now(UTC)
    checkup = _run(callers, dialogue, lambda _: None, interrupts)
    typer.echo(render_json_page(checkup, started_at), nl=False)
    return checkup


def decide_checkup_exit_code(checkup: Checkup) -> int:
    """Return the exit code of a check-up that was not interrupted; see `_exit.py`."""
    if checkup.error_code is not None:
        return UNAUTHORIZED if checkup.error_code == RemoteUnauthorizedError.code else UNJUDGED
    return PASSED if checkup.is_fit else FAILED


def _run(callers: Callers, dialogue: Dialogue, report: Report, interrupts: Interrupts) -> Checkup:
    """Return the check-up. A signal closes all connections and ends the command with the exit code of that."""

    async def run() -> Checkup:
        examining = asyncio.ensure_future(examine(callers, dialogue, report))
        loop = asyncio.get_running_loop()
        interrupts.heed(lambda: loop.call_soon_threadsafe(examining.cancel))
        try:
            return await examining
        finally:
            interrupts.heed(lambda: None)

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        raise typer.Exit(exit_code_of(interrupts.last)) from None
