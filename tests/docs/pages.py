"""Reads the documentation pages: their blocks, tables, links and options; and serves the agents that they talk to."""

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer
import yaml

from fake_server import FakeServer, parse_script
from remote_evals.cli.app import app
from remote_evals.pytest_plugin import pytest_addoption
from tests.serving.command import ROOT, Finished, run_python

MAX_LINE_CHARS = 140

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s#]*)(?:#[\w-]*)?\)")


@dataclass(frozen=True)
class Table:
    """A table of a page: the heading that it stands under, and its rows of cells without the first."""

    heading: str
    rows: list[list[str]]

    def column(self, number: int) -> list[str]:
        """Return the cells of a column, counted from 0."""
        return [row[number] for row in self.rows]


def fenced_blocks(path: Path, language: str = "") -> list[str]:
    """Return the fenced blocks of a page that are in this language; "" is that of blocks without one."""
    return [block for name, block in _FENCE.findall(path.read_text("utf-8")) if name == language]


def tables(path: Path) -> list[Table]:
    """Return the tables of a page, in order."""
    found: list[Table] = []
    heading, is_inside = "", False
    for line in _without_blocks(path).splitlines():
        if line.startswith("#"):
            heading = line.lstrip("#").strip()
        if not line.startswith("|"):
            is_inside = False
        elif not is_inside:
            is_inside = True
            found.append(Table(heading, []))
        elif not set(line) <= set("|:- "):
            found[-1].rows.append([cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


def table_under(path: Path, heading: str) -> Table:
    """Return the one table under a heading."""
    (found,) = (table for table in tables(path) if table.heading == heading)
    return found


def code_spans(text: str) -> list[str]:
    """Return what stands between backticks."""
    return re.findall(r"`([^`]+)`", text)


def named_options(text: str) -> set[str]:
    """Return the options that a text names."""
    return set(_OPTION.findall(text))


@cache
def known_options() -> frozenset[str]:
    """Return the options of all commands, of the fake server and of the pytest plugin."""
    group = typer.main.get_command(app)
    commands = [group, *getattr(group, "commands", {}).values()]
    options = {option for command in commands for parameter in command.params for option in parameter.opts}
    return frozenset({*options, *plugin_options(), "--help", "--port", "--reference"})


def plugin_options() -> list[str]:
    """Return the options that the plugin adds to pytest."""
    parser = _OptionNames()
    pytest_addoption(parser)  # type: ignore[arg-type]
    return parser.names


def find_page_problems(path: Path, foreign_options: frozenset[str] = frozenset()) -> list[str]:
    """Return the lines that are too long, the links that lead nowhere, and the options that nothing has."""
    text = path.read_text("utf-8")
    long_lines = [line for line in text.splitlines() if len(line) > MAX_LINE_CHARS]
    links = [link for link in _LINK.findall(_without_blocks(path)) if link and not link.startswith("https://")]
    unknown = named_options(text) - known_options() - foreign_options
    return [*long_lines, *(link for link in links if not _leads_somewhere(path.parent / link)), *sorted(unknown)]


def command_lines(block: str) -> list[list[str]]:
    """Return the commands of a block, each as its words, without comments."""
    joined = block.replace("\\\n", " ")
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def run_command(words: list[str], cwd: Path = ROOT, env: dict[str, str] | None = None) -> Finished:
    """Run a command of a page with the interpreter of the tests."""
    module = {"remote-evals": "remote_evals", "pytest": "pytest", "python": ""}[words[0]]
    return run_python(
        *(["-m", module] if module else []), *words[1:], cwd=cwd, env={"PYTHONPATH": str(ROOT), **(env or {})}
    )


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


class _OptionNames:
    """Stands in for pytest's parser and keeps the names of what is added."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def getgroup(self, *_: Any) -> "_OptionNames":
        return self

    def addoption(self, name: str, **_: Any) -> None:
        self.names.append(name)


def _without_blocks(path: Path) -> str:
    return _FENCE.sub("", path.read_text("utf-8"))


def _leads_somewhere(target: Path) -> bool:
    # A folder shows its own page.
    return target.exists() or (target.name == "README.md" and target.parent.is_dir())


def _read_script(name: str) -> Any:
    return yaml.safe_load((ROOT / "examples" / f"{name}.fake.yaml").read_text("utf-8"))
