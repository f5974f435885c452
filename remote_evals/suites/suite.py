"""A suite as data: its cases, what they share, and their deployment.

`SuiteReader` turns a document into a suite, or reports everything that is wrong with it, with lines.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..config.deployments import JudgeSettings, TargetSettings
from ..config.documents import Document
from ..config.fields import Text
from ..config.problems import KeyPath, Problem, explain_problem, interpolate, render_path, render_place
from ..config.strict_model import StrictModel
from ..core.json_values import render_json
from ..evals.eval import find_repeat_problem
from .discovery import SUITE_ENDINGS
from .eval_case import CaseDefaults, EvalCase

GIVE_URL = "pass --url URL, or set REMOTE_EVALS_URL"

_NO_TARGET = f"no target: give the suite a `target:` with a `url:`, {GIVE_URL}"


class Suite(StrictModel):
    """A suite file: cases, what they share, the deployment that they are for, and their judge.

    `SuiteReader` takes a missing `name` from the file.
    """

    name: Text = "suite"
    """The name of the suite in reports, by default the name of the file without its ending."""
    target: TargetSettings = TargetSettings()
    """The deployment that the prompts are sent to."""
    judge: JudgeSettings | None = None
    """The judge that grades rubrics; by default REMOTE_EVALS_JUDGE_URL and REMOTE_EVALS_JUDGE_MODEL name it."""
    defaults: CaseDefaults = CaseDefaults()
    """What all cases share; the keys of a case override it."""
    cases: tuple[EvalCase, ...]
    """The cases, in the order of the report."""

    @classmethod
    def find_problems(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a problem if there are no cases, and one for each wrong number of runs and each repeated name."""
        cases = data.get("cases")
        if cases in ([], ()):
            yield ("cases",), "a suite without cases checks nothing"
        first: dict[str, int] = {}
        for index, case in enumerate(cases if isinstance(cases, list | tuple) else ()):
            if isinstance(case, Mapping) and (problem := _find_repeat_problem(case, data.get("defaults"))):
                yield ("cases", index), problem
            name = _get_name(case)
            if name in first:
                yield ("cases", index), f"the name {name!r} is already used by cases[{first[name]}]"
            elif name is not None:
                first[name] = index

    @property
    def complete_cases(self) -> tuple[EvalCase, ...]:
        """The cases with the defaults filled in."""
        return tuple(case.with_defaults(self.defaults) for case in self.cases)


def _find_repeat_problem(case: Mapping[str, Any], defaults: object) -> str | None:
    """Return what is wrong with the numbers of runs of a case that is not validated yet, or None."""
    shared = defaults if isinstance(defaults, Mapping) else {}
    repeat, pass_at = (case.get(key, shared.get(key)) for key in ("repeat", "pass_at"))
    if not isinstance(pass_at, int) or not (repeat is None or isinstance(repeat, int)):
        return None
    return find_repeat_problem(repeat, pass_at)


def _get_name(case: object) -> str | None:
    """Return the name of a case that may not be validated yet."""
    if isinstance(case, EvalCase):
        return case.name
    name = case.get("name", case.get("id")) if isinstance(case, Mapping) else None
    return name if isinstance(name, str) else None


class SuiteReader:
    """Turns one document into a suite and collects what is wrong with it."""

    def __init__(self, file: Path, document: Document) -> None:
        self._file = file
        self._document = document
        # A list of cases is a suite without other keys.
        self._is_list = isinstance(document.data, list)
        self._problems: list[tuple[int, str]] = list(document.problems)
        self._unset: set[KeyPath] = set()

    @property
    def problems(self) -> list[str]:
        """The problems in the order of their lines, as text without lone surrogates."""
        lines = [f"{render_place(self._file, line)}: {text}" for line, text in sorted(self._problems)]
        return [line.encode("utf-8", "backslashreplace").decode() for line in lines]

    def read(self, variables: Mapping[str, str], needs_target: bool) -> Suite | None:
        """Return the suite, or None if there are `problems`."""
        data = {"cases": self._document.data} if self._is_list else self._document.data
        if not isinstance(data, dict):
            self._report((), f"a suite is a mapping with `cases:`, or a list of cases, got {render_json(data, 60)}")
            return None
        filled = {"name": _get_suite_name(self._file), **interpolate(data, variables, self._report_unset)}
        if needs_target and not _has_url(filled):
            self._report((), _NO_TARGET)
        suite = self._validate(filled, data)
        return None if self._problems else suite

    def _report_unset(self, path: KeyPath, text: str) -> None:
        self._unset.add(path)
        self._report(path, text)

    def _validate(self, filled: dict[str, Any], written: dict[str, Any]) -> Suite | None:
        try:
            return Suite.model_validate(filled)
        except ValidationError as error:
            for details in error.errors():
                # Text with an unset variable is reported once, and not as a wrong value too.
                if details["loc"] not in self._unset:
                    self._report(details["loc"], explain_problem(details, written))
            return None

    def _report(self, path: KeyPath, text: str) -> None:
        line = self._document.line(path[1:] if self._is_list else path) or 1
        where = f"{render_path(path)}: " if path else ""
        self._problems.append((line, f"{where}{text}"))


def _get_suite_name(file: Path) -> str:
    ending = next((ending for ending in SUITE_ENDINGS if file.name.endswith(ending)), file.suffix)
    return file.name.removesuffix(ending)


def _has_url(data: Mapping[str, Any]) -> bool:
    target = data.get("target")
    return isinstance(target, Mapping) and target.get("url") is not None
