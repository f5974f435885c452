"""Rules for the imports and the error handling of the packages and tests."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "remote_evals"
FAKE_SERVER = PACKAGE.parent / "fake_server"

# threads.py carries the error of a thread to the event loop, and raises it there.
RAISED_LATER = {"threads.py"}


def test_the_fake_server_is_written_apart() -> None:
    """The fake server imports nothing from the package, so that a wrong field name cannot hide in both."""
    assert all("remote_evals" not in path.read_text("utf-8") for path in FAKE_SERVER.rglob("*.py"))


def test_no_test_module_imports_another() -> None:
    """Test modules share code through other modules, so that each can be read and run alone."""
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert ".test_" not in f".{node.module}", f"{path.name} imports {node.module}"


@pytest.mark.parametrize("package", ["remote_evals", "fake_server"])
def test_nothing_is_swallowed_in_silence(package: str) -> None:
    """No `except` catches everything without raising again, because that hides bugs."""
    for path in (PACKAGE.parent / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "BaseException"
                raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
                assert caught != "BaseException" or raises or path.name in RAISED_LATER, f"{path.name}:{node.lineno}"
