"""The options that name a deployment and say how it is asked, each with its help."""

from pathlib import Path
from typing import Annotated, Any

import typer


def _option(name: str, help_: str, metavar: str | None = None, panel: str = "The deployment") -> Any:
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel=panel)


def _limit(name: str, of: str) -> Any:
    return _option(name, f"Limit of {of}; 0 for none.", "DURATION", "Limits of time: 500ms, 30s, 10m")


Url = Annotated[
    str | None, _option("--url", "Base URL of the deployment, before what suites say. Or REMOTE_EVALS_URL.", "URL")
]
Env = Annotated[
    str | None, _option("--env", "The deployment of this name in the settings, such as production.", "NAME")
]
TokenEnv = Annotated[str | None, _option("--token-env", "Environment variable that holds the bearer token.", "NAME")]
TokenFile = Annotated[Path | None, _option("--token-file", "File that holds the bearer token.", "PATH")]
Token = Annotated[
    str | None,
    _option(
        "--token",
        "The bearer token itself. The worst of the three ways: other users see it in the list of processes, and it "
        "stays in the shell's history. Without any, REMOTE_EVALS_TOKEN is used.",
        "VALUE",
    ),
]
Headers = Annotated[
    list[str] | None, _option("--header", "A header to send with every request; repeat it.", "NAME=VALUE")
]
SecretHeaders = Annotated[
    list[str] | None,
    _option("--secret-header", "A header whose value is a secret, and so is shown nowhere; repeat it.", "NAME"),
]
CaBundle = Annotated[
    Path | None,
    _option("--ca-bundle", "Certificates to trust besides the usual ones, as PEM: those of a private CA.", "PATH"),
]
Insecure = Annotated[
    bool, _option("--insecure", "Take any certificate. Whoever is in between can read the token and forge replies.")
]
InsecureHttp = Annotated[
    bool, _option("--insecure-http", "Let secrets go over plain http to another machine, readable on the way.")
]
Fake = Annotated[
    Path | None, _option("--fake", "Run against the bundled fake server, answering from SCRIPT.", "SCRIPT")
]
Wait = Annotated[
    str | None,
    _option("--wait", "First wait up to so long until GET /health says that it is ready; 0 asks once.", "DURATION"),
]
ExpectHeaders = Annotated[
    list[str] | None,
    _option(
        "--expect-header",
        "Wait, 60s without --wait, until /health answers with this header, so with the new build; repeat it.",
        "NAME: VALUE",
    ),
]

ConnectTimeout = Annotated[str | None, _limit("--connect-timeout", "connecting, 10s by default")]
HeadersTimeout = Annotated[str | None, _limit("--headers-timeout", "the wait for response headers, 60s by default")]
FirstEventTimeout = Annotated[str | None, _limit("--first-event-timeout", "the wait for an event, 60s by default")]
SilenceTimeout = Annotated[str | None, _limit("--silence-timeout", "the wait between two events, 2m by default")]
TurnTimeout = Annotated[str | None, _limit("--turn-timeout", "a turn, 10m by default")]
Timeout = Annotated[str | None, _limit("--timeout", "a case with all its turns, 10m by default")]
MaxTime = Annotated[str | None, _limit("--max-time", "the whole run, --wait included, none by default")]
