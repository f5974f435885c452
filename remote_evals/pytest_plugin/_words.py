"""Advice in the words of pytest: messages name the options of the command, and pytest has others, or none."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import JudgeError, RemoteError, RemoteEvalsError
from ..redaction import Redactor
from ..reporters import scrub_report
from ..results import AssertionResult, CaseError, CaseResult, EvalReport, EvalResult

WORDS = {
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


def translate(advice: str) -> str:
    """Return an advice with pytest's words for the command's options."""
    return _OPTION.sub(lambda option: WORDS.get(option[0], option[0]), advice)


@contextmanager
def in_pytest_words() -> Iterator[None]:
    """Let whatever this package raises advise in pytest's words."""
    try:
        yield
    except (RemoteError, JudgeError) as error:
        error.advice = translate(error.advice)
        raise
    except RemoteEvalsError as error:
        error.args = tuple(translate(arg) if isinstance(arg, str) else arg for arg in error.args)
        raise


def take_case(report: EvalReport, *redactors: Redactor) -> CaseResult:
    """Return the one case of a report as pytest shows it: without the secrets of these, and in pytest's words."""
    for redactor in redactors:
        report = scrub_report(report, redactor)
    return report.model_copy(update={"results": tuple(map(_translate_result, report.results))}).cases[0]


def _translate_result(result: EvalResult) -> EvalResult:
    error = result.error and _translate_error(result.error)
    return result.model_copy(update={"error": error, "assertions": tuple(map(_translate_skipped, result.assertions))})


def _translate_error(error: CaseError) -> CaseError:
    # The last sentence is the advice; what comes before it may quote the deployment, and stays as it is.
    happened, stop, advice = error.message.rpartition(". ")
    return error.model_copy(update={"message": f"{happened}{stop}{translate(advice)}"})


def _translate_skipped(made: AssertionResult) -> AssertionResult:
    return made.model_copy(update={"message": translate(made.message)}) if made.skipped else made
