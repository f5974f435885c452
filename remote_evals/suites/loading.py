"""Loads suite files and files of evals in code, and makes the evals of both.

A file of code (`*_eval.py` or `eval_*.py`) is imported. Every problem in every file is reported at once, with its line.
"""

import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from ..config.deployments import JudgeSettings, TargetSettings
from ..config.documents import load_document
from ..config.problems import DocumentError, render_place
from ..errors import SuiteError, UsageError
from ..evals.define import EvalDefinition, take_collected
from ..evals.eval import Eval
from ..judging import Judge
from ..targets import Target
from .discovery import find_suite_files, is_judged
from .suite import GIVE_URL, Suite, SuiteReader


@dataclass(frozen=True, slots=True)
class LoadedSuite:
    """A suite as data, and its file as the caller named it."""

    file: str
    suite: Suite

    @property
    def case_count(self) -> int:
        """The number of its cases."""
        return len(self.suite.cases)


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """The evals that a file of code defines, and the file as the caller named it."""

    file: str
    definitions: Sequence[EvalDefinition]

    @property
    def case_count(self) -> int:
        """The number of their cases; an eval without cases counts as one."""
        return sum(len(definition.cases) or 1 for definition in self.definitions)


LoadedFile = LoadedSuite | LoadedCode


def load_suites(
    patterns: Sequence[str], variables: Mapping[str, str], *, needs_target: bool = False, judging: bool = True
) -> list[LoadedFile]:
    """Load the suites that files, folders and globs name; without patterns, those below the working directory.

    `variables` fill `${VAR}`. With `needs_target`, a suite or eval without a target is a problem. Without `judging`,
    suites whose names say that they need a judge are left out. Raises `SuiteError` with every problem in every file;
    no suite is returned then.
    """
    files, problems = find_suite_files(patterns)
    wanted = [file for file in files if judging or not is_judged(file)]
    loaded = [suite for file in wanted if (suite := _load_file(file, variables, needs_target, problems))]
    if problems:
        raise SuiteError(problems)
    return loaded


def make_evals(
    suites: Sequence[LoadedFile],
    target_for: Callable[[TargetSettings], Target | None] | None = None,
    judge_for: Callable[[JudgeSettings | None], Judge | None] | None = None,
) -> list[Eval]:
    """Return the cases of the suites as evals, in order.

    `target_for` makes the target of each eval from its suite's settings; `target_builder()` returns such a function.
    Without it, the runner of the evals gives the target. `judge_for` does the same for the judge.
    """
    evals = []
    for loaded in suites:
        if isinstance(loaded, LoadedCode):
            judge = judge_for(None) if judge_for else None
            # A target for every suite overrides the agent of an eval in code.
            target = target_for(TargetSettings()) if target_for else None
            name = Path(loaded.file).stem
            own = [eval_ for each in loaded.definitions for eval_ in each.make_evals(suite=name, file=loaded.file)]
            evals += [replace(eval_, judge=judge, target=target or eval_.target) for eval_ in own]
        else:
            target = target_for(loaded.suite.target) if target_for else None
            judge = judge_for(loaded.suite.judge) if judge_for else None
            evals += [
                eval_
                for case in loaded.suite.complete_cases
                for eval_ in case.make_evals(loaded.suite.name, loaded.file, target=target, judge=judge)
            ]
    return evals


def _load_file(file: Path, variables: Mapping[str, str], needs_target: bool, problems: list[str]) -> LoadedFile | None:
    if file.suffix == ".py":
        return _load_code(file, needs_target, problems)
    return _load_suite(file, variables, needs_target, problems)


def _load_suite(
    file: Path, variables: Mapping[str, str], needs_target: bool, problems: list[str]
) -> LoadedSuite | None:
    try:
        reader = SuiteReader(file, load_document(file))
    except DocumentError as error:
        problems.append(f"{render_place(file, error.line)}: {error.text}")
        return None
    suite = reader.read(variables, needs_target)
    problems += reader.problems
    return LoadedSuite(str(file), suite) if suite else None


def _load_code(file: Path, needs_target: bool, problems: list[str]) -> LoadedCode | None:
    try:
        definitions = _load_definitions(file)
    except _CodeError as error:
        problems.append(f"{render_place(file, error.line)}: {error.text}")
        return None
    if needs_target:
        problems += [
            f"{one.place_in(str(file))}: the eval {one.name!r} has no agent and no target; give it one, {GIVE_URL}"
            for one in definitions
            if one.target is None
        ]
    return LoadedCode(str(file), definitions)


class _CodeError(Exception):
    """A file that defines no valid evals: `text` says what is wrong, `line` is its line, None if unknown."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text, line)
        self.text = text
        self.line = line


def _load_definitions(path: Path) -> list[EvalDefinition]:
    """Import a file and return the evals that it defines. Raises `_CodeError`."""
    take_collected()
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        # As for a script, modules beside the file can be imported, now and later when its tests run.
        sys.path.insert(0, folder)
    try:
        module = _execute(path)
    except SyntaxError as error:
        raise _CodeError(_explain_syntax_error(error, path), _find_syntax_line(error, path)) from error
    except UsageError as error:
        raise _CodeError(str(error), _find_line(error, path)) from error
    except (Exception, SystemExit) as error:  # the code of the file may raise anything
        raise _CodeError(f"cannot be imported: {type(error).__name__}: {error}", _find_line(error, path)) from error
    return _select_own(take_collected(), path, module)


def _execute(path: Path) -> ModuleType:
    # The name depends on the folder, so that two files with one name are two modules.
    name = f"_remote_evals_{path.stem}_{abs(hash(str(path.resolve())))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader  # noqa: S101, PT018 - the path of a .py file always has both
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _select_own(definitions: list[EvalDefinition], path: Path, module: ModuleType) -> list[EvalDefinition]:
    """Return the evals that the file itself defines. Raises `_CodeError` if there are none, or two with one name."""
    # A helper module may define evals for the file, which then holds them in a variable.
    kept = [value for value in vars(module).values() if isinstance(value, EvalDefinition)]
    own = [one for one in definitions if one in kept or _is_same_file(one.file, path)]
    if not own:
        raise _CodeError("defines no eval; decorate a test with @define_eval(name=…)", None)
    names = [definition.name for definition in own]
    for definition in own:
        if names.count(definition.name) > 1:
            raise _CodeError(f"two evals are named {definition.name!r}; give each its own name", definition.line)
    return own


def _explain_syntax_error(error: SyntaxError, path: Path) -> str:
    is_elsewhere = error.filename and not _is_same_file(error.filename, path)
    where = f" (in {error.filename}, line {error.lineno})" if is_elsewhere else ""
    return f"not Python: {error.msg}{where}"


def _find_syntax_line(error: SyntaxError, path: Path) -> int | None:
    """Return the line of a syntax error in the file, or else the line that imports the file with the error."""
    is_here = error.filename and _is_same_file(error.filename, path)
    return error.lineno if is_here else _find_line(error, path)


def _find_line(error: BaseException, path: Path) -> int | None:
    """Return the line of the file that was running last, or None."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_same_file(frame.filename, path)]
    return own[-1].lineno if own else None


def _is_same_file(name: str, path: Path) -> bool:
    return Path(name).resolve() == path.resolve()
