"""`remote-evals doctor`: whether a deployment is fit to be tested."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Annotated

import typer

from ..config.deployments import resolve
from ..doctor import Dialogue, make_callers
from ..errors import UsageError
from ..redaction import Redactor
from ._checkup import print_json, print_page
from ._exit import decide_checkup_exit_code
from ._fake import open_fake
from ._groups import grouped
from ._interrupt import interruptible
from ._limit_options import TurnLimitOptions
from ._options import Config
from ._output import workflow_fence
from ._settings import load_chosen
from ._stderr import usage_errors, warn
from ._target_options import INSECURE, DeploymentOptions

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
