"""`remote-evals doctor`: whether a deployment is fit to be tested."""

from contextlib import ExitStack
from typing import Annotated

import typer

from ..doctor import Dialogue, make_callers
from ..errors import UsageError
from ..redaction import Redactor
from ._checkup import decide_checkup_exit_code, print_json, print_page
from ._exit import usage_errors
from ._fake import open_fake
from ._interrupt import interruptible
from ._options import Config
from ._output import workflow_fence
from ._settings import load_chosen
from ._target import parse_limits, parse_target_options
from ._target_options import (
    CaBundle,
    ConnectTimeout,
    Env,
    Fake,
    FirstEventTimeout,
    Headers,
    HeadersTimeout,
    Insecure,
    InsecureHttp,
    SecretHeaders,
    SilenceTimeout,
    Token,
    TokenEnv,
    TokenFile,
    TurnTimeout,
    Url,
)

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


def doctor(
    url: Url = None,
    env: Env = None,
    token_env: TokenEnv = None,
    token_file: TokenFile = None,
    token: Token = None,
    header: Headers = None,
    secret_header: SecretHeaders = None,
    ca_bundle: CaBundle = None,
    insecure: Insecure = False,
    insecure_http: InsecureHttp = False,
    fake: Fake = None,
    connect_timeout: ConnectTimeout = None,
    headers_timeout: HeadersTimeout = None,
    first_event_timeout: FirstEventTimeout = None,
    silence_timeout: SilenceTimeout = None,
    turn_timeout: TurnTimeout = None,
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
        options = parse_target_options(
            url=url,
            token=token,
            token_env=token_env,
            token_file=token_file,
            headers=header,
            secret_headers=secret_header,
            ca_bundle=ca_bundle,
            insecure=insecure,
            insecure_http=insecure_http,
            limits=parse_limits(
                connect_timeout=connect_timeout,
                headers_timeout=headers_timeout,
                first_event_timeout=first_event_timeout,
                silence_timeout=silence_timeout,
                turn_timeout=turn_timeout,
            ),
            fake=fake,
        )
        options = load_chosen(config, env).target(options, has_url=url is not None or fake is not None)
        if fake:
            options, _ = stack.enter_context(open_fake(fake, options))
        callers, dialogue = make_callers(options, Redactor()), _make_dialogue(prompt)
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
