"""The options that name a deployment and how to reach it, and `--fake`: the bundled fake server for one run."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..config.deployments import JudgeSettings, TargetOptions, TokenVariable, parse_url
from ..errors import UsageError
from ..judging import Judge, LLMJudge
from ..redaction import Secret
from ..redaction.credentials import check_headers
from .options import parse_duration_option, parse_header_option

JudgeSource = Callable[[JudgeSettings | None], Judge | None]


def _option(name: str, help_: str, metavar: str | None = None) -> Any:
    return typer.Option(name, metavar=metavar, help=help_, rich_help_panel="The deployment")


# Without a repr: it would show the token, as in a traceback with locals.
@dataclass(frozen=True, slots=True, repr=False)
class DeploymentOptions:
    """Which deployment to reach, and with which credentials."""

    url: Annotated[
        str | None,
        _option(
            "--url",
            "Base URL of the deployment; overrides the URL in suites. Default: the environment variable "
            "REMOTE_EVALS_URL.",
            "URL",
        ),
    ] = None
    env: Annotated[
        str | None, _option("--env", "Use the deployment with this name in the settings, such as production.", "NAME")
    ] = None
    token_env: Annotated[
        str | None,
        _option(
            "--token-env",
            "Environment variable that holds the bearer token. Default: the one that the suite names, or "
            "REMOTE_EVALS_TOKEN.",
            "NAME",
        ),
    ] = None
    token_file: Annotated[Path | None, _option("--token-file", "File that holds the bearer token.", "PATH")] = None
    token: Annotated[
        str | None,
        _option(
            "--token",
            "The bearer token itself. Prefer --token-env or --token-file: other users can see this value in the "
            "process list, and it stays in the shell's history.",
            "VALUE",
        ),
    ] = None
    headers: Annotated[
        list[str] | None, _option("--header", "Header to send with every request. Can be repeated.", "NAME=VALUE")
    ] = None
    secret_headers: Annotated[
        list[str] | None,
        _option("--secret-header", "Name of a header whose value is secret and never shown. Can be repeated.", "NAME"),
    ] = None
    ca_bundle: Annotated[
        Path | None,
        _option("--ca-bundle", "PEM file of more CA certificates to trust, such as those of a private CA.", "PATH"),
    ] = None
    insecure: Annotated[
        bool,
        _option(
            "--insecure",
            "Do not verify TLS certificates. Anyone on the network path can then read the token and forge replies.",
        ),
    ] = False
    insecure_http: Annotated[
        bool,
        _option(
            "--insecure-http",
            "Allow sending credentials over plain HTTP to another machine. Anyone on the network path can read them.",
        ),
    ] = False
    fake: Annotated[
        Path | None,
        _option(
            "--fake", "Use the bundled fake server as the deployment; it answers from the YAML file SCRIPT.", "SCRIPT"
        ),
    ] = None

    def parse(self) -> TargetOptions:
        """Return the checked options; no variable is read yet. Raises `UsageError`, which never holds a token."""
        self._check_contradictions()
        return TargetOptions(
            parse_url(self.url, "--url"),
            self._parse_token(),
            self._parse_headers(),
            secret_headers=tuple(self.secret_headers or ()),
            ca_bundle=self.ca_bundle,
            insecure=self.insecure,
            insecure_http=self.insecure_http,
        )

    def _check_contradictions(self) -> None:
        is_given = {
            "--url": self.url is not None,
            "--token": self.token is not None,
            "--token-env": self.token_env is not None,
            "--token-file": self.token_file is not None,
        }
        given = [name for name in is_given if is_given[name]]
        tokens = [name for name in given if name != "--url"]
        if self.fake and given:
            raise UsageError(f"--fake brings its own URL and token; leave out {' and '.join(given)}")
        if len(tokens) > 1:
            raise UsageError(f"{' and '.join(tokens)} were given; one token is enough")
        if self.env and (self.fake or "--url" in given):
            raise UsageError("--env names a deployment, and so does --url or --fake; leave one of them out")

    def _parse_token(self) -> Secret | TokenVariable | None:
        if self.token_env is not None:
            return TokenVariable(self.token_env, "--token-env")
        if self.token_file is not None:
            return _read_token(self.token_file)
        if self.token is not None and not self.token:
            raise UsageError("--token is empty; is a variable not set?")
        return Secret(self.token) if self.token else None

    def _parse_headers(self) -> dict[str, str]:
        try:
            return check_headers(parse_header_option("--header", self.headers, "NAME=VALUE"))
        except ValueError as error:
            raise UsageError(f"--header: {error}") from None


def _read_token(path: Path) -> Secret:
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        # The message does not repeat the path: it may be the token itself, given to the wrong option.
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"the file that --token-file names cannot be read: {why}") from None
    if not text:
        raise UsageError(f"--token-file {path}: the file is empty; it should hold the token")
    return Secret(text)


@dataclass(frozen=True, slots=True)
class ReadinessOptions:
    """What to wait for before the first case."""

    wait: Annotated[
        str | None,
        _option(
            "--wait",
            "Maximum time to wait for GET /health to say that the deployment is ready, before the first case, such as "
            "2m. 0 asks once. Default: no wait.",
            "DURATION",
        ),
    ] = None
    expect_headers: Annotated[
        list[str] | None,
        _option(
            "--expect-header",
            "Wait until GET /health answers with this header, such as the new build's version. Waits up to 60s unless "
            "--wait says otherwise. Can be repeated.",
            "NAME: VALUE",
        ),
    ] = None

    def parse(self) -> tuple[float | None, Mapping[str, str]]:
        """Return the seconds to wait, or None if not given, and the headers to expect. Raises `UsageError`."""
        expected = parse_header_option("--expect-header", self.expect_headers, "NAME: VALUE")
        return parse_duration_option("--wait", self.wait), expected


@contextmanager
def open_fake(script: Path | None, options: TargetOptions) -> Iterator[tuple[TargetOptions, JudgeSource | None]]:
    """Serve a script on a free loopback port; yield the options with its URL and token, and its judge, if any.

    Without a script, the options are yielded unchanged. Raises `UsageError` for a script with errors, or if the extra
    that serves it is not installed.
    """
    if script is None:
        yield options, None
        return
    try:
        from fake_server import FakeServer, ScriptError, load_script
    except ModuleNotFoundError as error:
        raise UsageError(f"--fake needs the package {error.name!r}; install 'remote-evals[fake]'") from None
    try:
        loaded = load_script(script)
    except ScriptError as error:
        raise UsageError(str(error)) from None
    with FakeServer(loaded) as server:
        token = Secret(server.token) if server.token else None
        judge = LLMJudge(server.url, "fake", api_key=loaded.judge.api_key) if loaded.judge else None
        served = replace(options, url=server.url, token=token, reads_environment=False)
        yield served, (lambda _: judge) if judge else None
