"""One document of data to one suite: whatever is wrong with it is collected, with its lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .core.json_values import render_json
from .documents import Document
from .finding import SUITE_ENDINGS
from .interpolation import interpolate
from .mistakes import explain_mistake, render_path, render_place
from .suites import Suite
from .yaml_nodes import KeyPath

GIVE_URL = "pass --url URL, or set REMOTE_EVALS_URL"
_NO_TARGET = f"no target: give the suite a `target:` with a `url:`, {GIVE_URL}"


class SuiteReader:
    """Turns one document into a suite and collects what is wrong with it."""

    def __init__(self, file: Path, document: Document) -> None:
        self._file = file
        self._document = document
        # A bare list of cases is a suite that says nothing else.
        self._is_list = isinstance(document.data, list)
        self._mistakes: list[tuple[int, str]] = list(document.mistakes)
        self._unset: set[KeyPath] = set()

    @property
    def problems(self) -> list[str]:
        """The mistakes, in the order of their lines, as text that can be written anywhere."""
        told = [f"{render_place(self._file, line)}: {text}" for line, text in sorted(self._mistakes)]
        return [problem.encode("utf-8", "backslashreplace").decode() for problem in told]

    def read(self, variables: Mapping[str, str], needs_target: bool) -> Suite | None:
        """Return the suite, or None when `problems` says why there is none."""
        data = {"cases": self._document.data} if self._is_list else self._document.data
        if not isinstance(data, dict):
            self._report((), f"a suite is a mapping with `cases:`, or a list of cases, got {render_json(data, 60)}")
            return None
        filled = {"name": _name_of(self._file), **interpolate(data, variables, self._report_unset)}
        if needs_target and not _names_target(filled):
            self._report((), _NO_TARGET)
        suite = self._validate(filled, data)
        return None if self._mistakes else suite

    def _validate(self, filled: dict[str, Any], written: dict[str, Any]) -> Suite | None:
        try:
            return Suite.model_validate(filled)
        except ValidationError as error:
            for details in error.errors():
                # A text whose variable is not set is told once, not also as the wrong value that it is by itself.
                if details["loc"] not in self._unset:
                    self._report(details["loc"], explain_mistake(details, written))
            return None

    def _report_unset(self, path: KeyPath, text: str) -> None:
        self._unset.add(path)
        self._report(path, text)

    def _report(self, path: KeyPath, text: str) -> None:
        line = self._document.line(path[1:] if self._is_list else path) or 1
        where = f"{render_path(path)}: " if path else ""
        self._mistakes.append((line, f"{where}{text}"))


def _names_target(data: Mapping[str, Any]) -> bool:
    target = data.get("target")
    return isinstance(target, Mapping) and target.get("url") is not None


def _name_of(file: Path) -> str:
    ending = next((ending for ending in SUITE_ENDINGS if file.name.endswith(ending)), file.suffix)
    return file.name.removesuffix(ending)
