"""What pytest shows of a case: what the summary of a run would show, without a traceback, and in pytest's words.

Messages name the options of the command `remote-evals`; here they are replaced by pytest's options.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from _pytest._code.code import ExceptionRepr, ReprExceptionInfo, ReprFileLocation, ReprTracebackNative

from ..core.text import escape_control_chars
from ..errors import JudgeError, RemoteError, RemoteEvalsError
from ..redaction import Redactor
from ..reporters import scrub_report
from ..reporters.evidence import list_soft_failures, list_warnings
from ..reporters.summary import make_row, make_run_rows
from ..reporters.terminal import INDENT
from ..reporters.totals import describe_repeats
from ..results import AssertionResult, CaseError, CaseResult, EvalReport, EvalResult
from .configuration import WARNINGS, Sections

PYTEST_WORDS = {
    "--ca-bundle": "--remote-ca-bundle",
    "--concurrency": "-n",
    "--header": "the `headers` of a suite's `target`:",
    "--insecure-http": "--remote-insecure-http",
    "--judge": "--remote-judge",
    "--timeout": "that of its suite's `defaults`",
    "--token-env": "--remote-token-env",
    "--url": "--remote-url",
    **{
        option: f"{option}, which only `remote-evals run` has"
        for option in (
            "--connect-timeout",
            "--first-event-timeout",
            "--headers-timeout",
            "--silence-timeout",
            "--turn-timeout",
            "--wait",
            "--expect-header",
        )
    },
}

_OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")


class NotPassedError(Exception):
    """A case did not pass: `gist` gives the reason in one line, `text` everything known about it."""

    could_not_be_judged = False

    def __init__(self, gist: str, text: str) -> None:
        super().__init__(gist)
        self.gist = gist
        self.text = text

    def show(self, path: str, line: int) -> ExceptionRepr:
        """Return what pytest prints instead of a traceback; `path` and `line` locate the case."""
        lines = ReprTracebackNative([f"{self.text}\n"])
        return ReprExceptionInfo(reprtraceback=lines, reprcrash=ReprFileLocation(path, line, self.gist))


class UnjudgedError(NotPassedError):
    """A case could not be judged."""

    could_not_be_judged = True


def find_failure(case: CaseResult) -> NotPassedError | None:
    """Return the error to raise for a case, or None if it passed."""
    if case.status == "passed":
        return None
    kind = NotPassedError if case.status == "failed" else UnjudgedError
    return kind(_summarize(case), render_case(case))


def make_unjudged_error(error: CaseError) -> UnjudgedError:
    """Return the error to raise for a case that was not started."""
    text = f"{error.code}: {error.message}"
    return UnjudgedError(escape_control_chars(text), "\n".join(map(escape_control_chars, text.splitlines())))


def _summarize(case: CaseResult) -> str:
    run = next((run for run in case.runs if run.status == case.status), case.runs[0])
    reasons = [failed.message or failed.name for failed in run.failures]
    reasons += [f"{run.error.code}: {run.error.message}"] if run.error and not reasons else []
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    rate = f"{case.rate} runs passed, {case.needed} needed; {run.name}: " if len(case.runs) > 1 else ""
    return escape_control_chars(f"{rate}{reasons[0] if reasons else 'the case did not pass'}{more}")


def render_case(case: CaseResult) -> str:
    """Return the rows of a case as in a summary, as plain text without control characters."""
    if len(case.runs) == 1:
        rows = list(make_run_rows(case.runs[0]))
    else:
        rows = [make_row(case.status, f"{case.name} {describe_repeats(case)}")]
        rows += [line for run in case.runs for line in make_run_rows(run, INDENT)]
    return "\n".join(line.plain for line in rows)


def list_sections(case: CaseResult) -> Sections:
    """Return the report sections of a case that passed: its runs, if there are several, and its warnings."""
    runs = [("remote-evals runs", render_case(case))] if len(case.runs) > 1 else []
    flaky = [f"flaky: {describe_repeats(case)}"] if case.is_flaky else []
    # A warning that several runs share is shown once.
    warnings = dict.fromkeys(
        [*flaky, *(escape_control_chars(text) for run in case.runs for text in _list_remarks(run))]
    )
    return runs + ([(WARNINGS, "\n".join(warnings))] if warnings else [])


def _list_remarks(run: EvalResult) -> list[str]:
    """Return the soft failures and the warnings of a run."""
    return [*(f"soft: {text}" for text in list_soft_failures(run)), *list_warnings(run)]


def extract_case(report: EvalReport, *redactors: Redactor) -> CaseResult:
    """Return the only case of a report as pytest shows it: without the redactors' secrets, and in pytest's words."""
    for redactor in redactors:
        report = scrub_report(report, redactor)
    return report.model_copy(update={"results": tuple(map(_translate_result, report.results))}).cases[0]


def _translate_result(result: EvalResult) -> EvalResult:
    error = result.error and _translate_error(result.error)
    return result.model_copy(update={"error": error, "assertions": tuple(map(_translate_skipped, result.assertions))})


def _translate_error(error: CaseError) -> CaseError:
    # Only the last sentence is advice; the text before it may quote the deployment.
    happened, stop, advice = error.message.rpartition(". ")
    return error.model_copy(update={"message": f"{happened}{stop}{translate(advice)}"})


def _translate_skipped(assertion: AssertionResult) -> AssertionResult:
    if not assertion.skipped:
        return assertion
    return assertion.model_copy(update={"message": translate(assertion.message)})


@contextmanager
def in_pytest_words() -> Iterator[None]:
    """Translate the advice of this package's errors into pytest's words."""
    try:
        yield
    except (RemoteError, JudgeError) as error:
        error.advice = translate(error.advice)
        raise
    except RemoteEvalsError as error:
        error.args = tuple(translate(arg) if isinstance(arg, str) else arg for arg in error.args)
        raise


def translate(advice: str) -> str:
    """Return the advice with the command's options replaced by pytest's words."""
    return _OPTION.sub(lambda option: PYTEST_WORDS.get(option[0], option[0]), advice)
