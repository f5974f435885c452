"""Suite files to suites: every mistake in every file is reported at once, with its line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from .code_files import CodeError, load_definitions
from .definitions import EvalDefinition
from .documents import Document, DocumentError, load_document
from .errors import SuiteError
from .evals import Eval
from .finding import SUITE_ENDINGS, find_suite_files, is_judged
from .interpolation import interpolate
from .judging import Judge
from .matching import render_json
from .mistakes import explain_mistake, render_path, render_place
from .plan import make_eval
from .suites import JudgeSettings, Suite, TargetSettings
from .targets._base import Target
from .yaml_nodes import KeyPath

_GIVE_URL = "give it one, pass --url URL, or set REMOTE_EVALS_URL"
_NO_TARGET = "no target: give the suite a `target:` with a `url:`, pass --url URL, or set REMOTE_EVALS_URL"


@dataclass(frozen=True, slots=True)
class LoadedSuite:
    """A suite as data and the file it came from, as it was named."""

    file: str
    suite: Suite

    @property
    def case_count(self) -> int:
        """How many cases it has."""
        return len(self.suite.cases)


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """The evals that a file of code defines."""

    file: str
    definitions: Sequence[EvalDefinition]

    @property
    def case_count(self) -> int:
        """How many cases they have."""
        return sum(len(definition.cases) or 1 for definition in self.definitions)


Loaded = LoadedSuite | LoadedCode


def load_suites(
    patterns: Sequence[str], variables: Mapping[str, str], *, needs_target: bool = False, judging: bool = True
) -> list[Loaded]:
    """Load the suites that files, folders and globs name; with none, those below the working directory.

    `variables` fill `${VAR}`. With `needs_target`, a suite without a target is a mistake. Without `judging`, suites
    that ask a judge by their name are left out. Raises `SuiteError` with all mistakes in all files; no suite is
    returned then.
    """
    files, problems = find_suite_files(patterns)
    wanted = [file for file in files if judging or not is_judged(file)]
    loaded = [suite for file in wanted if (suite := _load(file, variables, needs_target, problems))]
    if problems:
        raise SuiteError(problems)
    return loaded


def make_evals(
    suites: Sequence[Loaded],
    target_for: Callable[[TargetSettings], Target | None] | None = None,
    judge_for: Callable[[JudgeSettings | None], Judge | None] | None = None,
) -> list[Eval]:
    """Return the cases of the suites as evals, in order.

    Each has the target that `target_for` makes of its suite's: `target_builder()` makes what the suites themselves
    say, and without any, whoever runs the evals gives the target. So it is with `judge_for` and the suite's judge.
    """
    evals = []
    for loaded in suites:
        if isinstance(loaded, LoadedCode):
            judge = judge_for(None) if judge_for else None
            # A target that is for every suite comes before the agent of an eval in code.
            target = target_for(TargetSettings()) if target_for else None
            own = [one for each in loaded.definitions for one in _evals_of(each, loaded.file)]
            evals += [replace(one, judge=judge, target=target or one.target) for one in own]
        else:
            target = target_for(loaded.suite.target) if target_for else None
            judge = judge_for(loaded.suite.judge) if judge_for else None
            evals += [
                make_eval(case, suite=loaded.suite.name, file=loaded.file, target=target, judge=judge)
                for case in loaded.suite.complete_cases
            ]
    return evals


def _evals_of(definition: EvalDefinition, file: str) -> list[Eval]:
    return definition.make_evals(suite=Path(file).stem, file=file)


def _load(file: Path, variables: Mapping[str, str], needs_target: bool, problems: list[str]) -> Loaded | None:
    if file.suffix == ".py":
        return _load_code(file, needs_target, problems)
    try:
        reader = _Reader(file, load_document(file))
    except DocumentError as error:
        problems.append(f"{render_place(file, error.line)}: {error.text}")
        return None
    suite = reader.read(variables, needs_target)
    problems += reader.problems
    return LoadedSuite(str(file), suite) if suite else None


def _load_code(file: Path, needs_target: bool, problems: list[str]) -> LoadedCode | None:
    try:
        definitions = load_definitions(file)
    except CodeError as error:
        problems.append(f"{render_place(file, error.line)}: {error.text}")
        return None
    if needs_target:
        homeless = [definition for definition in definitions if definition.target is None]
        problems += [f"{one.place}: the eval {one.name!r} has no agent and no target; {_GIVE_URL}" for one in homeless]
    return LoadedCode(str(file), definitions)


class _Reader:
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
