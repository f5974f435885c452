"""Runs the real command in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Finished:
    """The exit code of a command, and everything it printed."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Everything it printed."""
        return self.out + self.err


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment without the variables that affect the command, and with `extra`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("REMOTE_EVALS", "COV_", "GITHUB_"))}
    return {**kept, "COLUMNS": "200", **(extra or {})}


def run_python(*args: object, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> Finished:
    """Run the interpreter of the tests with arguments, and wait for its end."""
    done = subprocess.run(
        [sys.executable, *map(str, args)],
        cwd=cwd,
        env=clean_environment(env),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def remote_evals(*args: object, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> Finished:
    """Run `remote-evals` with arguments, and wait for its end."""
    return run_python("-m", "remote_evals", *args, cwd=cwd, env=env)
