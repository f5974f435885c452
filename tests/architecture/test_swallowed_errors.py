"""Errors that nobody would see."""

import ast

import pytest

from tests.architecture.source import PROJECT

# A thread's error is carried to the event loop and raised there.
RAISED_LATER = {"threads.py"}


@pytest.mark.parametrize("package", ["remote_evals", "fake_server"])
def test_nothing_is_swallowed_in_silence(package: str) -> None:
    """No file catches everything: a bare `except:` and `except BaseException` without a raise hide bugs."""
    for path in (PROJECT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "BaseException"
                raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
                assert caught != "BaseException" or raises or path.name in RAISED_LATER, f"{path.name}:{node.lineno}"
