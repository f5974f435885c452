"""The walks through the code in remote_evals/README.md are true."""

import ast
import re
from typing import NamedTuple

import pytest

from tests.architecture.source import PACKAGE

MOST_FILES = {
    "From a suite file to the report": 18,
    'From received bytes to "no call matched the expected args"': 10,
    "From an environment variable to a redacted report": 8,
}


class Step(NamedTuple):
    """A file, and what to look at in it."""

    file: str
    name: str

    def read(self) -> str:
        return (PACKAGE / f"{self.file}.py").read_text("utf-8")


def read_walks() -> dict[str, list[Step]]:
    text = (PACKAGE / "README.md").read_text("utf-8")
    walks = re.findall(r"^(From .*):\n\n((?:\d+\. .*\n)+)", text, re.MULTILINE)
    return {
        title: [Step(*pair) for pair in re.findall(r"^\d+\. `([\w/]+)` `(\w+)`", steps, re.M)] for title, steps in walks
    }


WALKS = read_walks()


def test_there_are_three_walks() -> None:
    """Each walk opens at most so many files, each once."""
    assert {title: len({step.file for step in steps}) for title, steps in WALKS.items()} == MOST_FILES
    assert all(len(steps) == MOST_FILES[title] for title, steps in WALKS.items())


@pytest.mark.parametrize("title", MOST_FILES)
def test_every_step_is_defined_where_it_says(title: str) -> None:
    """What a step names is a class, a function or a method of its file."""
    missing = [step for step in WALKS[title] if step.name not in list_definitions(step)]
    assert missing == []


@pytest.mark.parametrize("title", MOST_FILES)
def test_every_step_leads_on(title: str) -> None:
    """The file of an earlier step names what a step is about, or its own file names an earlier step's."""
    steps = WALKS[title]
    lost = [step for index, step in enumerate(steps) if index and not is_linked(step, steps[:index])]
    assert lost == []


def list_definitions(step: Step) -> list[str]:
    nodes = ast.walk(ast.parse(step.read()))
    return [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)]


def is_linked(step: Step, earlier: list[Step]) -> bool:
    def names(text: str, name: str) -> bool:
        return re.search(rf"\b{name}\b", text) is not None

    return any(names(one.read(), step.name) or names(step.read(), one.name) for one in earlier)
