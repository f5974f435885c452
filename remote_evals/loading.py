"""Suite files to suites: every mistake in every file is reported at once, with its line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .code_files import CodeError, load_definitions
from .definitions import EvalDefinition
from .documents import DocumentError, load_document
from .errors import SuiteError
from .evals import Eval
from .finding import find_suite_files, is_judged
from .judging import Judge
from .mistakes import render_place
from .plan import make_eval
from .suite_reader import GIVE_URL, SuiteReader
from .suites import JudgeSettings, Suite, TargetSettings
from .targets import Target


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
