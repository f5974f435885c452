"""`--fake SCRIPT`: the bundled fake server, for the length of one run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..config.deployments import JudgeSettings, TargetOptions
from ..errors import UsageError
from ..judging import Judge, LLMJudge
from ..redaction import Secret

JudgeSource = Callable[[JudgeSettings | None], Judge | None]


@contextmanager
def open_fake(script: Path | None, options: TargetOptions) -> Iterator[tuple[TargetOptions, JudgeSource | None]]:
    """Serve a script on a free port of the loopback; yield the options with its URL and token, and its judge, if any.

    Without a script the options stay as they are. Raises `UsageError` for a script that is wrong, and where the extra
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
