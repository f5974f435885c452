"""Files and functions that a reader can hold in the head, under names that say which is meant."""

import ast
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.architecture.source import SOURCES, Source

MAX_FILE_LINES = 260
MAX_FUNCTION_LINES = 40


def test_no_two_files_have_one_name() -> None:
    """A file name says which file is meant, but for `__init__`, `base` and the commands, which are named as typed."""
    commands = {"cli/doctor", "cli/run"}
    names = Counter(source.parts[-1] for source in SOURCES if source.name not in commands)
    assert {name for name, count in names.items() if count > 1} <= {"__init__", "base"}


def test_no_folder_is_crowded() -> None:
    """A folder holds at most 14 modules."""
    sizes = Counter(source.parts[:-1] for source in SOURCES if source.parts[-1] != "__init__")
    assert max(sizes.values()) <= 14


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_file_can_be_held_in_the_head(source: Source) -> None:
    """A file has at most 260 lines, and a docstring that says what it is for."""
    assert len(source.path.read_text("utf-8").splitlines()) <= MAX_FILE_LINES
    assert source.docstring


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_function_can_be_held_in_the_head(source: Source) -> None:
    """A function has at most 40 lines, its parameters not counted: those of a command are its options."""
    assert [name for name, lines in measure_functions(source) if lines > MAX_FUNCTION_LINES] == []


def measure_functions(source: Source) -> Iterator[tuple[str, int]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or 0) - node.body[0].lineno + 1


@pytest.mark.parametrize("source", [source for source in SOURCES if source.is_room], ids=lambda source: source.name)
def test_a_room_says_what_it_is_for(source: Source) -> None:
    """The docstring of a room says what it is for, what comes in and what goes out."""
    lines = source.docstring.splitlines()
    assert lines[1] == ""
    assert [line[:4] for line in lines if line.startswith(("In: ", "Out: "))] == ["In: ", "Out:"]
