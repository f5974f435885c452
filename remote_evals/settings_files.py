"""Which file holds the settings: `remote-evals.toml`, or `pyproject.toml` with a table `[tool.remote-evals]`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .documents import Document, DocumentError
from .errors import SettingsError
from .mistakes import render_path, render_place
from .toml_documents import load_toml
from .yaml_nodes import KeyPath

OWN_FILE, SHARED_FILE = "remote-evals.toml", "pyproject.toml"
TABLE = "tool.remote-evals"
_PATH = tuple(TABLE.split("."))


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file with settings, and the path of the table that holds them: empty where it is all of the file."""

    file: Path
    document: Document
    table: KeyPath

    @property
    def data(self) -> Any:
        """The settings as they are written, unvalidated; None when there are none."""
        return _table_of(self.document.data) if self.table else self.document.data

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a key of the settings, or of the nearest table around it."""
        return self.document.line((*self.table, *path))

    def describe(self, path: KeyPath, text: str) -> str:
        """Return what is wrong with a key, with its place; it can be written anywhere."""
        told = f"{render_place(self.file, self.line(path))}: {render_path((*self.table, *path))}: {text}"
        return told.encode("utf-8", "backslashreplace").decode()


def open_settings_file(file: Path) -> SettingsFile:
    """Read a settings file. Raises `SettingsError` where it cannot be parsed."""
    try:
        return SettingsFile(file, load_toml(file), _PATH if file.name == SHARED_FILE else ())
    except DocumentError as error:
        raise SettingsError([f"{render_place(file, error.line)}: {error.text}"]) from error


def find_settings_file(start: Path) -> SettingsFile | None:
    """Return the nearest settings file from a folder up to the root of its repository, or of the file system.

    Raises `SettingsError` where one folder has both kinds, as nobody could tell which is meant.
    """
    for folder in _folders_from(start):
        found = [open_settings_file(file) for name in (SHARED_FILE, OWN_FILE) if (file := folder / name).is_file()]
        found = [one for one in found if one.data is not None]
        if len(found) > 1:
            raise SettingsError([found[0].describe((), f"{found[1].file} has settings too; keep one of the two")])
        if found:
            return found[0]
    return None


def _folders_from(start: Path) -> Iterator[Path]:
    for folder in (start, *start.resolve().parents):
        yield folder
        # A file in a work tree, a folder elsewhere.
        if (folder / ".git").exists():
            return


def _table_of(data: Mapping[str, Any]) -> Any:
    tool = data.get(_PATH[0])
    return tool.get(_PATH[1]) if isinstance(tool, dict) else None
