"""How the tests are laid out."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, PROJECT

TESTS = PROJECT / "tests"
UNIT = TESTS / "unit"
TEST_FILES = sorted(TESTS.rglob("test_*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


@pytest.mark.parametrize("path", sorted(UNIT.rglob("test_*.py")), ids=name_of)
def test_a_unit_test_stands_where_its_file_stands(path: Path) -> None:
    """`unit/ROOM/test_FILE.py`, or `test_FILE_ASPECT.py`, tests the file of that name in that room."""
    room = PACKAGE / path.parent.relative_to(UNIT)
    words = path.stem.removeprefix("test_").split("_")
    files = ["_".join(words[:length]) for length in range(1, len(words) + 1)]
    assert any((room / f"{file}.py").exists() for file in files), f"no file of {room.name}/ is tested by {path.name}"


@pytest.mark.parametrize("path", TEST_FILES, ids=name_of)
def test_no_test_module_imports_another(path: Path) -> None:
    """What several test modules need stands in a module of its own, so that each can be read and run alone."""
    modules = [node.module for node in ast.walk(parse(path)) if isinstance(node, ast.ImportFrom)]
    assert [module for module in modules if ".test_" in f".{module}"] == []


@pytest.mark.parametrize("path", TEST_FILES, ids=name_of)
def test_every_test_says_its_behaviour(path: Path) -> None:
    """Every test has a docstring of one sentence."""
    silent = [function.name for function in list_tests(path) if not (ast.get_docstring(function) or "").endswith(".")]
    assert silent == []


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def list_tests(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node
