"""`remote-evals doctor`: examines a deployment and prints the findings; a signal ends it."""

import asyncio
from contextlib import ExitStack
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
from .exits import decide_doctor_exit_code, exit_on_usage_error, get_signal_exit_code
from .interrupts import Interrupts, catch_signals
from .options import Config, expand_groups
from .output import workflow_fence
from .run_options import TurnLimitOptions
from .run_setup import load_command_settings, open_deployment
from .target_options import DeploymentOptions

Prompt = Annotated[
    str | None,
    typer.Option(
        "--prompt",
        metavar="TEXT",
        help="Prompt to send; choose one that needs no tools. {number} in it is replaced by a number that the agent "
        "should remember; without it, memory is not checked. Default: a request to remember a number.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the findings as one JSON document. Default: print text.")]


@expand_groups
def doctor(
    *,
    deployment: DeploymentOptions,
    limits: TurnLimitOptions,
    prompt: Prompt = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Report on one page whether a deployment is fit to be tested: DNS, TLS, tokens, event stream and memory.

    Requests, none of which is sent twice:
    GET /health
    two short turns in a session of their own, which need no tools, and a GET of that session
    the first turn without the token, and if that is refused, with a wrong token

    Exit codes:
    0 no check failed
    1 a check failed
    2 bad usage or settings: nothing was sent
    3 the deployment refused the token
    4 the deployment could not be reached, or a turn broke
    130 interrupted by Ctrl-C, 143 by SIGTERM
    """
    with catch_signals() as interrupts, exit_on_usage_error(), ExitStack() as stack:
        settings = load_command_settings(config, deployment.env)
        options, _ = stack.enter_context(open_deployment(settings, deployment, limits))
        identities, probe = make_identities(resolve(options), Redactor()), _make_probe(prompt)
        if json:
            diagnosis = _print_json(identities, probe, interrupts)
        else:
            stack.enter_context(workflow_fence())
            diagnosis = _print_page(identities, probe, interrupts)
    raise typer.Exit(decide_doctor_exit_code(diagnosis))


def _make_probe(prompt: str | None) -> MemoryProbe:
    if prompt is not None and not prompt.strip():
        raise UsageError("--prompt is empty; is a variable not set?")
    return MemoryProbe() if prompt is None else MemoryProbe(prompt)


def _print_page(identities: Identities, probe: MemoryProbe, interrupts: Interrupts) -> Diagnosis:
    """Print each finding as soon as it is made, so that a slow deployment is seen to be slow."""
    console = Console()
    print_lines(render_head(identities.as_given.description), console)
    diagnosis = _examine(identities, probe, lambda found: print_lines(render_findings(found), console), interrupts)
    print_lines(render_verdict(diagnosis), console)
    return diagnosis


def _print_json(identities: Identities, probe: MemoryProbe, interrupts: Interrupts) -> Diagnosis:
    """Print all findings as one JSON document."""
    started_at = datetime.now(UTC)
    diagnosis = _examine(identities, probe, lambda _: None, interrupts)
    typer.echo(render_json_page(diagnosis, started_at), nl=False)
    return diagnosis


def _examine(identities: Identities, probe: MemoryProbe, on_findings: OnFindings, interrupts: Interrupts) -> Diagnosis:
    """Return the diagnosis. A signal closes all connections and ends the command with that signal's exit code."""

    async def run() -> Diagnosis:
        examining = asyncio.ensure_future(examine(identities, probe, on_findings))
        loop = asyncio.get_running_loop()
        with interrupts.handled_by(lambda: loop.call_soon_threadsafe(examining.cancel)):
            return await examining

    try:
        return asyncio.run(run_without_joining_threads(run()))
    except asyncio.CancelledError:
        raise typer.Exit(get_signal_exit_code(interrupts.last)) from None
