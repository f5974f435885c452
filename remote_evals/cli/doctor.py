"""A check-up as the command makes it: interruptible, and printed as it goes on."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console

from ..config.deployments import resolve
from ..core.threads import leave_threads
from ..doctor import (
    Callers,
    Checkup,
    Dialogue,
    OnFindings,
    examine,
    make_callers,
    render_findings,
    render_head,
    render_json_page,
    render_verdict,
)
from ..errors import UsageError
from ..redaction import Redactor
from ..reporters.terminal import print_lines
from .exits import decide_checkup_exit_code, exit_code_of, usage_errors, warn
from .interrupts import Interrupts, interruptible
from .options import Config, grouped
from .output import workflow_fence
from .run_options import TurnLimitOptions
from .setup import load_chosen
from .target_options import INSECURE, DeploymentOptions, open_fake


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


Prompt = Annotated[
    str | None,
    typer.Option(
        "--prompt",
        metavar="TEXT",
        help="What to send instead of a request to remember a number; {number} in it stands for that number. Let it "
        "need no tools.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the findings as one JSON document.")]


@grouped
def doctor(
    *,
    deployment: DeploymentOptions,
    limits: TurnLimitOptions,
    prompt: Prompt = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Say on one page whether a deployment is fit to be tested: its name, TLS, tokens, stream and memory.

    What is sent, all of it once:
    GET /health
    two short turns of a session of their own, which need no tools, and a GET of that session
    the first of them without the token, and with a wrong one if that is refused

    Exit codes:
    0 nothing failed
    1 a check failed
    2 bad usage or settings: nothing was sent
    3 the deployment refused the token
    4 it could not be reached, or a turn broke
    130 interrupted by Ctrl-C, 143 by SIGTERM
    """
    with interruptible() as interrupts, usage_errors(), ExitStack() as stack:
        if deployment.insecure:
            warn(INSECURE)
        options = load_chosen(config, deployment.env).target(replace(deployment.parse(), limits=limits.parse()))
        options, _ = stack.enter_context(open_fake(deployment.fake, options))
        callers, dialogue = make_callers(resolve(options), Redactor()), _make_dialogue(prompt)
        if json:
            checkup = print_json(callers, dialogue, interrupts)
        else:
            stack.enter_context(workflow_fence())
            checkup = print_page(callers, dialogue, interrupts)
    raise typer.Exit(decide_checkup_exit_code(checkup))


def _make_dialogue(prompt: str | None) -> Dialogue:
    if prompt is not None and not prompt.strip():
        raise UsageError("--prompt is empty; is a variable not set?")
    return Dialogue() if prompt is None else Dialogue(prompt)
