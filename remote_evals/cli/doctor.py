"""A check-up as the command makes it: interruptible, and printed as it goes on."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console

from ..config.deployments import resolve
from ..core.threads import run_without_joining_threads
from ..doctor import (
    Diagnosis,
    Identities,
    MemoryProbe,
    OnFindings,
    examine,
    make_identities,
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


def print_page(identities: Identities, probe: MemoryProbe, interrupts: Interrupts) -> Diagnosis:
    """Print each finding as soon as it is there, so that a slow deployment is seen to be one."""
    console = Console()
    print_lines(render_head(identities.as_given.description), console)
    diagnosis = _run(identities, probe, lambda found: print_lines(render_findings(found), console), interrupts)
    print_lines(render_verdict(diagnosis), console)
    return diagnosis


def print_json(identities: Identities, probe: MemoryProbe, interrupts: Interrupts) -> Diagnosis:
    """Print all findings as one JSON document."""
    started_at = datetime.now(UTC)
    diagnosis = _run(identities, probe, lambda _: None, interrupts)
    typer.echo(render_json_page(diagnosis, started_at), nl=False)
    return diagnosis


def _run(identities: Identities, probe: MemoryProbe, on_findings: OnFindings, interrupts: Interrupts) -> Diagnosis:
    """Return the check-up. A signal closes all connections and ends the command with the exit code of that."""

    async def run() -> Diagnosis:
        examining = asyncio.ensure_future(examine(identities, probe, on_findings))
        loop = asyncio.get_running_loop()
        with interrupts.handled_by(lambda: loop.call_soon_threadsafe(examining.cancel)):
            return await examining

    try:
        return asyncio.run(run_without_joining_threads(run()))
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
        identities, probe = make_identities(resolve(options), Redactor()), _make_dialogue(prompt)
        if json:
            diagnosis = print_json(identities, probe, interrupts)
        else:
            stack.enter_context(workflow_fence())
            diagnosis = print_page(identities, probe, interrupts)
    raise typer.Exit(decide_checkup_exit_code(diagnosis))


def _make_dialogue(prompt: str | None) -> MemoryProbe:
    if prompt is not None and not prompt.strip():
        raise UsageError("--prompt is empty; is a variable not set?")
    return MemoryProbe() if prompt is None else MemoryProbe(prompt)
