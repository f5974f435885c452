"""The agents that pages talk to, which are those of the examples as one deployment, and how pages' commands are run."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from fake_server import FakeServer, parse_script
from tests.serving.command import ROOT, Finished, run_python


@contextmanager
def serve_examples() -> Iterator[FakeServer]:
    """Serve all agents of the examples as one, and their judge."""
    approval, judged, refund = (_read_script(name) for name in ("approval", "judged", "refund"))
    late = [reply for reply in judged["replies"] if "when" in reply]
    for step in (step for reply in approval["replies"] for step in reply["steps"]):
        step["usage"] = {"input": 400, "output": 20, "cost_usd": 0.0007}
    script = {**refund, "judge": judged["judge"], "replies": [*late, *approval["replies"], *refund["replies"]]}
    with FakeServer(parse_script(yaml.safe_dump(script))) as server:
        yield server


def environment_of(server: FakeServer) -> dict[str, str]:
    """Return the variables that lead the pages' suites to a server of `serve_examples`."""
    return {
        "AGENT_URL": server.url,
        "AGENT_TOKEN": server.token or "",
        "REMOTE_EVALS_TOKEN": server.token or "",
        "JUDGE_URL": server.url,
        "JUDGE_API_KEY": "demo-judge-key",
    }


def split_command_lines(block: str) -> list[list[str]]:
    """Return the commands of a block, each as its words, without comments."""
    joined = block.replace("\\\n", " ")
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def run_command(words: list[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> Finished:
    """Run a command of a page with the interpreter of the tests."""
    module = {"remote-evals": ["-m", "remote_evals"], "pytest": ["-m", "pytest"], "python": []}[words[0]]
    return run_python(*module, *words[1:], cwd=cwd, env={"PYTHONPATH": str(ROOT), **(env or {})})


def _read_script(name: str) -> Any:
    return yaml.safe_load((ROOT / "examples" / f"{name}.fake.yaml").read_text("utf-8"))
