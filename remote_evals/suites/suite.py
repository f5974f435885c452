"""A suite as data: cases, what they share, and the deployment they are for."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..config.deployments import JudgeSettings, TargetSettings
from ..config.documents import Document
from ..config.fields import Text
from ..config.problems import explain_mistake, interpolate, render_path, render_place
from ..config.strict_model import Problem, StrictModel
from ..config.yaml_lines import KeyPath
from ..core.json_values import render_json
from ..evals.eval import find_repeat_problem
from .discovery import SUITE_ENDINGS
from .eval_case import CaseDefaults, EvalCase


class Suite(StrictModel):
    """A suite file. `defaults` fill what a case does not say itself; a `name` is given by the file where absent."""

    name: Text = "suite"
    """What the suite is called in reports; by default as its file."""
    target: TargetSettings = TargetSettings()
    """The deployment that the suite is for."""
    judge: JudgeSettings | None = None
    """The judge of the suite's rubrics; without it REMOTE_EVALS_JUDGE_URL and REMOTE_EVALS_JUDGE_MODEL say who."""
    defaults: CaseDefaults = CaseDefaults()
    """What all cases share; what a case says itself comes first."""
    cases: tuple[EvalCase, ...]
    """The cases, in the order in which they are reported."""

    @classmethod
    def find_mistakes(cls, data: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield that there are no cases, and each case whose name another has."""
        cases = data.get("cases")
        if cases in ([], ()):
            yield ("cases",), "a suite without cases checks nothing"
        first: dict[str, int] = {}
        for index, case in enumerate(cases if isinstance(cases, list | tuple) else ()):
            if isinstance(case, Mapping) and (wrong := _repeat_mistake(case, data.get("defaults"))):
                yield ("cases", index), wrong
            name = _name_of(case)
            if name in first:
                yield ("cases", index), f"the name {name!r} is already that of cases[{first[name]}]"
            elif name is not None:
                first[name] = index

    @property
    def complete_cases(self) -> tuple[EvalCase, ...]:
        """The cases with the defaults filled in."""
        return tuple(case.with_defaults(self.defaults) for case in self.cases)


def _name_of(case: object) -> str | None:
    """Return the name of a case that may not have been validated."""
    if isinstance(case, EvalCase):
        return case.name
    name = case.get("name", case.get("id")) if isinstance(case, Mapping) else None
    return name if isinstance(name, str) else None


def _repeat_mistake(case: Mapping[str, Any], defaults: object) -> str | None:
    """Return what is wrong with the numbers of runs of a case that may not have been validated."""
    known = defaults if isinstance(defaults, Mapping) else {}
    repeat, pass_at = (case.get(key, known.get(key)) for key in ("repeat", "pass_at"))
    if not isinstance(pass_at, int) or not (repeat is None or isinstance(repeat, int)):
        return None
    return find_repeat_problem(repeat, pass_at)


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
        filled = {"name": _suite_name(self._file), **interpolate(data, variables, self._report_unset)}
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


def _suite_name(file: Path) -> str:
    ending = next((ending for ending in SUITE_ENDINGS if file.name.endswith(ending)), file.suffix)
    return file.name.removesuffix(ending)
