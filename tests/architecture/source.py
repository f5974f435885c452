"""The package's source as the tests of its structure see it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "remote_evals"
FAKE_SERVER = PROJECT / "fake_server"


class Import(NamedTuple):
    """An import of the package's own: the module, relative to the package, and the names taken from it."""

    module: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """One file of the package."""

    path: Path

    @property
    def parts(self) -> tuple[str, ...]:
        """Where it is, relative to the package, without its ending."""
        return self.path.relative_to(PACKAGE).with_suffix("").parts

    @property
    def name(self) -> str:
        """Its path as the table of remote_evals/README.md has it."""
        return "/".join(self.parts)

    @property
    def is_room(self) -> bool:
        """Whether it is the face of a folder."""
        return len(self.parts) > 1 and self.parts[-1] == "__init__"

    @property
    def tree(self) -> ast.Module:
        """What it holds."""
        return ast.parse(self.path.read_text("utf-8"))

    @property
    def docstring(self) -> str:
        """What it says of itself."""
        return ast.get_docstring(self.tree) or ""

    def list_imports(self) -> Iterator[Import]:
        """Yield what it imports of the package, anywhere in it."""
        folder = self.parts[:-1]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = folder[: len(folder) - node.level + 1]
                module = (*base, *(node.module.split(".") if node.module else ()))
                yield Import(module, tuple(alias.name for alias in node.names))


SOURCES = [Source(path) for path in sorted(PACKAGE.rglob("*.py"))]
