"""Runs the shell steps of a CI file as its runner would: with bash, their variables and conditions, in a folder."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.serving.command import ROOT, clean_environment

# What is installed and deployed elsewhere.
_LEFT_OUT = ("pip install",)


@dataclass
class Job:
    """A job in a folder: `values` are what `${{ NAME }}` stands for, `env` is what every step has."""

    folder: Path
    env: Mapping[str, str]
    values: Mapping[str, str] = field(default_factory=dict)
    has_failed: bool = False
    ran: list[str] = field(default_factory=list)
    output: str = ""
    _outputs: dict[str, str] = field(default_factory=dict)

    def run_github(self, steps: list[dict[str, Any]]) -> None:
        """Run the shell steps of a GitHub job whose conditions hold; the job fails with the first that fails."""
        for step in steps:
            command = step.get("run", "")
            if command and not command.startswith(_LEFT_OUT) and self._is_wanted(step.get("if", "success()")):
                env = {name: self._fill(text) for name, text in step.get("env", {}).items()}
                code = self._run(command, {**env, "GITHUB_OUTPUT": str(self.folder / "outputs")})
                self._read_outputs(step.get("id"))
                self.has_failed |= code != 0 and not step.get("continue-on-error")

    def run_gitlab(self, script: list[str]) -> None:
        """Run the lines of a GitLab job up to the first that fails."""
        for line in script:
            if not self.has_failed:
                self.has_failed = self._run(line, {}) != 0

    def _run(self, command: str, env: Mapping[str, str]) -> int:
        self.ran.append(command)
        # The commands of this interpreter, and those that a test puts into the folder.
        path = os.pathsep.join([str(self.folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=self.folder,
            env=clean_environment({**self.env, **env, "PATH": path, "PYTHONPATH": str(ROOT)}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.output += done.stdout + done.stderr
        return done.returncode

    def _is_wanted(self, condition: str) -> bool:
        """Return whether a condition holds: its parts are joined by `&&`, and without a status it means success."""
        parts = [part.strip() for part in condition.split("&&")]
        if not any(part.endswith("()") for part in parts):
            parts.append("success()")
        return all(map(self._holds, parts))

    def _holds(self, part: str) -> bool:
        if part in ("always()", "failure()", "success()"):
            return {"always()": True, "failure()": self.has_failed, "success()": not self.has_failed}[part]
        if found := re.fullmatch(r"hashFiles\('(.*)'\) != ''", part):
            return (self.folder / found[1]).exists()
        found = re.fullmatch(r"steps\.([\w.]+) == '(.*)'", part)
        assert found, f"a condition that this runner does not know: {part}"
        return self._outputs.get(found[1].replace(".outputs", ""), "") == found[2]

    def _fill(self, text: str) -> str:
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: self.values[found[1]], text)

    def _read_outputs(self, step: str | None) -> None:
        written = self.folder / "outputs"
        lines = written.read_text("utf-8").splitlines() if written.exists() else []
        self._outputs |= {f"{step}.{name}": value for name, _, value in (line.partition("=") for line in lines)}


def load_ci_file(path: Path) -> Any:
    """Return a CI file; a loader that leaves `on` the text that it is for GitHub."""
    return yaml.load(path.read_text("utf-8"), yaml.BaseLoader)  # noqa: S506 - makes nothing but text
