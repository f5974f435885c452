"""How the rooms of the package may know each other."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "remote_evals"
FAKE_SERVER = PACKAGE.parent / "fake_server"


def test_the_fake_server_is_written_apart() -> None:
    """The fake server imports nothing from the package, so that a field name wrong in both cannot hide."""
    assert all("remote_evals" not in path.read_text("utf-8") for path in FAKE_SERVER.rglob("*.py"))


def test_no_test_module_imports_another() -> None:
    """What several test modules need stands in a module of its own, so that each can be read and run alone."""
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert ".test_" not in f".{node.module}", f"{path.name} imports {node.module}"


# A thread's error is carried to the event loop and raised there.
RAISED_LATER = {"threads.py"}


@pytest.mark.parametrize("package", ["remote_evals", "fake_server"])
def test_nothing_is_swallowed_in_silence(package: str) -> None:
    """No file catches everything: a bare `except:` and `except BaseException` without a raise hide bugs."""
    for path in (PACKAGE.parent / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "BaseException"
                raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
                assert caught != "BaseException" or raises or path.name in RAISED_LATER, f"{path.name}:{node.lineno}"
