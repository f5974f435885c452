"""Files of evals in code: imports `*_eval.py` and `eval_*.py`, and says where a mistake in one stands."""

import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from ..config.deployments import JudgeSettings, TargetSettings
from ..config.documents import DocumentError, load_document
from ..config.problems import render_place
from ..errors import SuiteError, UsageError
from ..evals.define import EvalDefinition, take_collected
from ..evals.eval import Eval
from ..judging import Judge
from ..targets import Target
from .discovery import find_suite_files, is_judged
from .suite import GIVE_URL, Suite, SuiteReader


class CodeError(Exception):
    """A file whose evals cannot be had: what is wrong, and at which of its lines, None when that is not known."""

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text, line)
        self.text = text
        self.line = line


def load_definitions(path: Path) -> list[EvalDefinition]:
    """Import a file and return the evals that it defines. Raises `CodeError`."""
    take_collected()
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        # As for a script: what lies beside the file can be imported, now and by the tests when they run.
        sys.path.insert(0, folder)
    try:
        module = _execute(path)
    except SyntaxError as error:
        raise CodeError(_describe_syntax(error, path), _syntax_line(error, path)) from error
    except UsageError as error:
        raise CodeError(str(error), _line_of(error, path)) from error
    except (Exception, SystemExit) as error:  # whatever the file does when it is imported
        raise CodeError(f"cannot be imported: {type(error).__name__}: {error}", _line_of(error, path)) from error
    return _check(take_collected(), path, module)


def _execute(path: Path) -> ModuleType:
    # A name of its own, so that two files of one name in two folders are two modules.
    name = f"_remote_evals_{path.stem}_{abs(hash(str(path.resolve())))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader  # noqa: S101, PT018 - the path of a .py file always has both
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _check(definitions: list[EvalDefinition], path: Path, module: ModuleType) -> list[EvalDefinition]:
    # Those that it defines, and those that it keeps a name of: a helper may define evals for it.
    kept = [value for value in vars(module).values() if isinstance(value, EvalDefinition)]
    own = [one for one in definitions if one in kept or Path(one.file).resolve() == path.resolve()]
    if not own:
        raise CodeError("defines no eval; decorate a test with @define_eval(name=…)", None)
    names = [definition.name for definition in own]
    for definition in own:
        if names.count(definition.name) > 1:
            raise CodeError(f"two evals are named {definition.name!r}; give each its own name", definition.line)
    return own


def _describe_syntax(error: SyntaxError, path: Path) -> str:
    is_here = error.filename and Path(error.filename).resolve() == path.resolve()
    where = "" if is_here or not error.filename else f" (in {error.filename}, line {error.lineno})"
    return f"not Python: {error.msg}{where}"


def _syntax_line(error: SyntaxError, path: Path) -> int | None:
    """Return the line of a syntax error, or in the file itself the line that imports the file it stands in."""
    is_here = error.filename and Path(error.filename).resolve() == path.resolve()
    return error.lineno if is_here else _line_of(error, path)


def _line_of(error: BaseException, path: Path) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).resolve() == path.resolve()]
    return own[-1].lineno if own else None


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
                eval_
                for case in loaded.suite.complete_cases
                for eval_ in case.make_evals(loaded.suite.name, loaded.file, target=target, judge=judge)
            ]
    return evals


def _evals_of(definition: EvalDefinition, file: str) -> list[Eval]:
    return definition.make_evals(suite=Path(file).stem, file=file)


def _load(file: Path, variables: Mapping[str, str], needs_target: bool, problems: list[str]) -> Loaded | None:
    if file.suffix == ".py":
        return _load_code(file, needs_target, problems)
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
        definitions = load_definitions(file)
    except CodeError as error:
        problems.append(f"{render_place(file, error.line)}: {error.text}")
        return None
    if needs_target:
        homeless = [definition for definition in definitions if definition.target is None]
        problems += [
            f"{one.place_in(str(file))}: the eval {one.name!r} has no agent and no target; give it one, {GIVE_URL}"
            for one in homeless
        ]
    return LoadedCode(str(file), definitions)
