"""A check-up as the command makes it: interruptible, and printed as it goes on."""

import asyncio
from datetime import UTC, datetime

import typer
from rich.console import Console

from ..core.threads import leave_threads
from ..doctor import (
    Callers,
    Checkup,
    Dialogue,
    OnFindings,
    examine,
    render_findings,
    render_head,
    render_json_page,
    render_verdict,
)
from ..reporters._lines import print_lines
from ._exit import exit_code_of
from ._interrupt import Interrupts


def print_page(callers: Callers, dialogue: Dialogue, interrupts: Interrupts) -> Checkup:
    """Print each finding as soon as it is there, so that a slow deployment is seen to be one."""
    console = Console()
    print_lines(render_head(callers.as_given.description), console)
    checkup = _run(callers, dialogue, lambda found: print_lines(render_findings(found), console), interrupts)
    print_lines(render_verdict(checkup), console)
    return checkup


def print_json(callers: Callers, dialogue: Dialogue, interrupts: Interrupts) -> Checkup:
    """Print all findings as one JSON document."""
    started_at = datetime.now(UTC)
    checkup = _run(callers, dialogue, lambda _: None, interrupts)
    typer.echo(render_json_page(checkup, started_at), nl=False)
    return checkup


def _run(callers: Callers, dialogue: Dialogue, on_findings: OnFindings, interrupts: Interrupts) -> Checkup:
    """Return the check-up. A signal closes all connections and ends the command with the exit code of that."""

    async def run() -> Checkup:
        examining = asyncio.ensure_future(examine(callers, dialogue, on_findings))
        loop = asyncio.get_running_loop()
        with interrupts.handled_by(lambda: loop.call_soon_threadsafe(examining.cancel)):
            return await examining

    try:
        return asyncio.run(leave_threads(run()))
    except asyncio.CancelledError:
        raise typer.Exit(exit_code_of(interrupts.last)) from None
