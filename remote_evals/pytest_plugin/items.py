"""Suites and evals in code as pytest files and items: one item for each case, even if the case runs more than once.

Tags become marks. Evals run in event loops of their own, so that the loops of plain tests are left alone.
"""

import asyncio
import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..config.deployments import TargetSettings
from ..config.documents import load_document
from ..core.text import escape_control_chars
from ..core.threads import run_without_joining_threads
from ..errors import RemoteEvalsError, SuiteError
from ..evals.eval import Eval
from ..results import CaseError, CaseResult, EvalReport
from ..running.runner import EvalRunner
from ..suites.discovery import is_judged
from ..suites.loading import LoadedCode, LoadedFile, load_suites, make_evals
from ..suites.suite import Suite
from ..targets import Target
from .configuration import SECTIONS, EvalConfiguration, open_configuration
from .outcomes import (
    NotPassedError,
    extract_case,
    find_failure,
    in_pytest_words,
    list_sections,
    make_unjudged_error,
)

# Characters that `-m` cannot read in a name, and the colon, which separates a registered mark from its description.
_NOT_IN_A_MARK = re.compile(r"[^\w.+/-]")
# Keywords of `-m`, and marks that pytest acts on, which a tag must not trigger.
_RESERVED_MARKS = {"and", "or", "not", "filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}
_WAYS = "pass --remote-url URL, set REMOTE_EVALS_URL, or give"


class EvalFile(pytest.File):
    """A suite, or a file of evals in code."""

    def collect(self) -> Iterable["EvalItem"]:
        """Return an item for each case. All problems in the file are one error.

        Skips a suite that asks a judge, unless `--remote-judge` is given.
        """
        if is_judged(self.path) and not open_configuration(self.config).judging:
            pytest.skip(f"{self._shown_path}: a suite that asks a judge is run only with --remote-judge")
        loaded = self._load()
        evals = make_evals([loaded])
        names = make_item_names(eval_.name for eval_ in evals)
        for eval_, name, line in zip(evals, names, _list_lines(loaded), strict=True):
            item = EvalItem.from_parent(self, name=name, eval_=eval_, loaded=loaded, line=line)
            add_marks(item, eval_.tags)
            yield item

    @property
    def _shown_path(self) -> str:
        folder = Path.cwd()
        return str(self.path.relative_to(folder) if self.path.is_relative_to(folder) else self.path)

    def _load(self) -> LoadedFile:
        open_configuration(self.config)
        try:
            return load_suites([self._shown_path], os.environ)[0]
        except SuiteError as error:
            problems = str(error)
        # Raised here, where no frame holds the environment.
        raise self.CollectError(problems)


class EvalItem(pytest.Item):
    """A case; it passes if enough of its runs pass. `case` is its result, None before it has run."""

    def __init__(self, *, eval_: Eval, loaded: LoadedFile, line: int | None, **node: Any) -> None:
        super().__init__(**node)
        self._eval = eval_
        self._loaded = loaded
        self._line = line
        self.case: CaseResult | None = None

    def runtest(self) -> None:
        """Run the case as often as it requires. Raises `NotPassedError`."""
        failure = self._run_case()
        if failure:
            raise failure

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of the case, or a traceback if the plugin itself failed."""
        if isinstance(excinfo.value, NotPassedError):
            return excinfo.value.show(str(self.path), self._line or 1)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return the location of the case; pytest counts lines from 0."""
        return self.path, None if self._line is None else self._line - 1, self.name

    def _run_case(self) -> NotPassedError | None:
        """Run the case and return the error to raise, or None if it passed."""
        configuration = open_configuration(self.config)
        try:
            with in_pytest_words():
                target = self._choose_target(configuration)
                if refusal := configuration.refused.find(target):
                    return make_unjudged_error(refusal)
                case = self.case = self._run(configuration, target)
        except RemoteEvalsError as error:
            message = configuration.redactor.scrub(str(error))
            return make_unjudged_error(CaseError(code=error.code, message=message))
        self.user_properties += _list_properties(case)
        failure = find_failure(case)
        if failure is None:
            self.stash[SECTIONS] = list_sections(case)
        return failure

    @property
    def _suite(self) -> Suite | None:
        return None if isinstance(self._loaded, LoadedCode) else self._loaded.suite

    def _choose_target(self, configuration: EvalConfiguration) -> Target:
        suite = self._suite
        target = configuration.target_for(suite.target if suite else TargetSettings()) or self._eval.target
        if target is None:
            what = "the suite a `target:` with a `url:`" if suite else "the eval an `agent=` or a `target=`"
            raise _NoTargetError(f"no target: {_WAYS} {what}")
        return target

    def _run(self, configuration: EvalConfiguration, target: Target) -> CaseResult:
        judging = configuration.judging
        judge = configuration.judge_for(self._suite.judge if self._suite else None) if judging else None
        report = run_evals(EvalRunner(target, judge=judge, judging=judging), [self._eval])
        for result in report.results:
            configuration.refused.record(target, result)
        return extract_case(report, configuration.redactor, target.redactor)


class _NoTargetError(RemoteEvalsError):
    code = "NO_TARGET"


def _list_lines(loaded: LoadedFile) -> Iterator[int | None]:
    """Yield the line of each case in a suite, or that of its definition in code."""
    if isinstance(loaded, LoadedCode):
        for definition in loaded.definitions:
            yield from [definition.line] * (len(definition.cases) or 1)
    else:
        document = load_document(Path(loaded.file))
        above = () if isinstance(document.data, list) else ("cases",)
        yield from (document.line((*above, index)) for index in range(loaded.case_count))


def _list_properties(case: CaseResult) -> list[tuple[str, object]]:
    """Return the properties of a case in the XML report, such as the ids to find it in the deployment's logs."""
    found: list[tuple[str, object]] = []
    if len(case.runs) > 1:
        found += [("runs", str(len(case.runs))), ("passed_runs", str(case.passed_runs))]
    for run in case.runs:
        found += [("session_id", run.session_id)] if run.session_id else []
        found += [("trace_id", turn.trace_id) for turn in run.turns if turn.trace_id]
    return found


def make_item_names(names: Iterable[str]) -> list[str]:
    """Return unique names for node ids: on one line, and without `::`, which separates the parts of a node id."""
    counts: dict[str, int] = {}
    unique = []
    for name in names:
        shown = escape_control_chars(" ".join(name.split())).replace("::", ":")
        counts[shown] = counts.get(shown, 0) + 1
        unique.append(shown if counts[shown] == 1 else f"{shown} ({counts[shown]})")
    return unique


def add_marks(item: pytest.Item, tags: Iterable[str]) -> None:
    """Mark an item with its tags, and register each mark, so that `--strict-markers` accepts it."""
    for tag in tags:
        name = make_mark_name(tag)
        known = {line.split(":")[0].split("(")[0].strip() for line in item.config.getini("markers")}
        if name not in known:
            item.config.addinivalue_line("markers", f"{name}: a tag of evals")
        item.add_marker(getattr(pytest.mark, name))


def make_mark_name(tag: str) -> str:
    """Return the name of the mark for a tag: `needs_review` for `needs review`, and `skip_` for `skip`."""
    name = _NOT_IN_A_MARK.sub("_", tag).lstrip("_") or "tag"
    return f"{name}_" if name in _RESERVED_MARKS else name


def run_evals(runner: EvalRunner, evals: Sequence[Eval]) -> EvalReport:
    """Run evals in a new event loop, which never becomes the current loop of this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as loop:
            return loop.run(run_without_joining_threads(runner.arun(evals)))
    return runner.run(evals)


@contextmanager
def open_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Yield an event loop that runs in its own thread; leaving the block cancels what still runs in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="remote-agent", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        # Leaving a Runner closes the loop as `asyncio.run` does.
        with asyncio.Runner(loop_factory=lambda: loop):
            pass
