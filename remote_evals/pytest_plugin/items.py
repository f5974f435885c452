"""Tags as marks, and names as parts of a node id."""

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
from .configuration import SECTIONS, EvalPlan, open_plan
from .outcomes import NotPassedError, find_failure, in_pytest_words, list_sections, take_case, unjudged

# What `-m` reads as one name, without the colon, behind which a registered mark has its description.
_NOT_IN_A_MARK = re.compile(r"[^\w.+/-]")
# Words of `-m` itself, and marks by which pytest acts: a tag is only a word.
_TAKEN = {"and", "or", "not", "filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}


def mark_of(tag: str) -> str:
    """Return the name of the mark for a tag: `needs review` is `needs_review`, and `skip` is `skip_`."""
    name = _NOT_IN_A_MARK.sub("_", tag).lstrip("_") or "tag"
    return f"{name}_" if name in _TAKEN else name


def add_marks(item: pytest.Item, tags: Iterable[str]) -> None:
    """Mark an item with its tags, each registered, so that `--strict-markers` knows it."""
    for tag in tags:
        name = mark_of(tag)
        known = {line.split(":")[0].split("(")[0].strip() for line in item.config.getini("markers")}
        if name not in known:
            item.config.addinivalue_line("markers", f"{name}: a tag of evals")
        item.add_marker(getattr(pytest.mark, name))


def name_items(names: Iterable[str]) -> list[str]:
    """Return names that can stand in node ids, each once: on one line, and without `::`, which parts node ids."""
    taken: dict[str, int] = {}
    unique = []
    for name in names:
        shown = escape_control_chars(" ".join(name.split())).replace("::", ":")
        taken[shown] = taken.get(shown, 0) + 1
        unique.append(shown if taken[shown] == 1 else f"{shown} ({taken[shown]})")
    return unique


def run_evals(runner: EvalRunner, evals: Sequence[Eval]) -> EvalReport:
    """Run evals to their end in a loop of their own, which never becomes the thread's current one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as own:
            return own.run(run_without_joining_threads(runner.arun(evals)))
    return runner.run(evals)


@contextmanager
def open_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Yield a loop that runs in a thread of its own; leaving cancels what still runs in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="remote-agent", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        # Its end closes the loop as that of `asyncio.run` does.
        with asyncio.Runner(loop_factory=lambda: loop):
            pass


_WAYS = "pass --remote-url URL, set REMOTE_EVALS_URL, or give"


class EvalFile(pytest.File):
    """A suite as data, or a file of evals in code."""

    def collect(self) -> Iterable["EvalItem"]:
        """Return an item a case; all mistakes in the file are one error. Without `--remote-judge` skips its suites."""
        if is_judged(self.path) and not open_plan(self.config).judging:
            pytest.skip(f"{self._shown_path}: a suite that asks a judge is run only with --remote-judge")
        loaded = self._load()
        evals = make_evals([loaded])
        names = name_items(eval_.name for eval_ in evals)
        for eval_, name, line in zip(evals, names, _lines_of(loaded), strict=True):
            item = EvalItem.from_parent(self, name=name, eval_=eval_, loaded=loaded, line=line)
            add_marks(item, eval_.tags)
            yield item

    @property
    def _shown_path(self) -> str:
        folder = Path.cwd()
        return str(self.path.relative_to(folder) if self.path.is_relative_to(folder) else self.path)

    def _load(self) -> LoadedFile:
        open_plan(self.config)
        try:
            return load_suites([self._shown_path], os.environ)[0]
        except SuiteError as error:
            mistakes = str(error)
        # Raised here, where no frame holds the environment.
        raise self.CollectError(mistakes)


class EvalItem(pytest.Item):
    """A case; it passes when enough of its runs do. `case` is how it went, None before it ran."""

    def __init__(self, *, eval_: Eval, loaded: LoadedFile, line: int | None, **node: Any) -> None:
        super().__init__(**node)
        self._eval = eval_
        self._loaded = loaded
        self._line = line
        self.case: CaseResult | None = None

    def runtest(self) -> None:
        """Run the case as often as it says. Raises `NotPassedError`."""
        failure = self._find_failure()
        if failure:
            raise failure

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what the case's own report shows; only for a breakage of the plugin a traceback."""
        if isinstance(excinfo.value, NotPassedError):
            return excinfo.value.show(str(self.path), self._line or 1)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Return where the case stands; pytest counts lines from 0."""
        return self.path, None if self._line is None else self._line - 1, self.name

    def _find_failure(self) -> NotPassedError | None:
        plan = open_plan(self.config)
        try:
            with in_pytest_words():
                target = self._find_target(plan)
                if refusal := plan.refused.find(target):
                    return unjudged(refusal)
                case = self.case = self._run(plan, target)
        except RemoteEvalsError as error:
            return unjudged(CaseError(code=error.code, message=plan.redactor.scrub(str(error))))
        self.user_properties += _list_properties(case)
        failure = find_failure(case)
        if failure is None:
            self.stash[SECTIONS] = list_sections(case)
        return failure

    @property
    def _suite(self) -> Suite | None:
        return None if isinstance(self._loaded, LoadedCode) else self._loaded.suite

    def _find_target(self, plan: EvalPlan) -> Target:
        suite = self._suite
        target = plan.target_for(suite.target if suite else TargetSettings()) or self._eval.target
        if target is None:
            what = "the suite a `target:` with a `url:`" if suite else "the eval an `agent=` or a `target=`"
            raise _NoTargetError(f"no target: {_WAYS} {what}")
        return target

    def _run(self, plan: EvalPlan, target: Target) -> CaseResult:
        judge = plan.judge_for(self._suite.judge if self._suite else None) if plan.judging else None
        runner = EvalRunner(target, judge=judge, judging=plan.judging)
        report = run_evals(runner, [self._eval])
        for result in report.results:
            plan.refused.record(target, result)
        return take_case(report, plan.redactor, target.redactor)


class _NoTargetError(RemoteEvalsError):
    code = "NO_TARGET"


def _lines_of(loaded: LoadedFile) -> Iterator[int | None]:
    """Yield the line of each case: its own in a suite, that of its definition in code."""
    if isinstance(loaded, LoadedCode):
        for definition in loaded.definitions:
            yield from [definition.line] * (len(definition.cases) or 1)
    else:
        document = load_document(Path(loaded.file))
        above = () if isinstance(document.data, list) else ("cases",)
        yield from (document.line((*above, index)) for index in range(loaded.case_count))


def _list_properties(case: CaseResult) -> list[tuple[str, object]]:
    """Return what a report in XML says of a case, to find it in the deployment's own records."""
    found: list[tuple[str, object]] = []
    if len(case.runs) > 1:
        found += [("runs", str(len(case.runs))), ("passed_runs", str(case.passed_runs))]
    for run in case.runs:
        found += [("session_id", run.session_id)] if run.session_id else []
        found += [("trace_id", turn.trace_id) for turn in run.turns if turn.trace_id]
    return found
