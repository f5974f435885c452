"""`--fake SCRIPT`: the bundled fake server, for the length of one run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..deployments import TargetOptions
from ..errors import UsageError
from ..redaction import Secret


@contextmanager
def open_fake(script: Path, options: TargetOptions) -> Iterator[TargetOptions]:
    """Serve a script on a free port of the loopback and yield the options with its URL and token.

    Raises `UsageError` for a script that is wrong, and where the extra that serves it is not installed.
    """
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
        yield TargetOptions(server.url, token, options.headers, is_fake=True)
