"""The exit code of each outcome, and that every place that documents the codes agrees."""

import re
import signal

import pytest

from remote_evals import EvalCase
from remote_evals.cli import exits
from remote_evals.cli.exits import decide_doctor_exit_code, decide_exit_code, decide_list_exit_code
from remote_evals.cli.run import run
from remote_evals.doctor import Diagnosis
from remote_evals.results import CaseError, EvalReport, EvalResult, Status
from remote_evals.running.plan import as_evals

Row = tuple[Status, str | None]

PASSED: Row = ("passed", None)
FAILED: Row = ("failed", None)
REFUSED: Row = ("error", "REMOTE_UNAUTHORIZED")
NOT_SENT: Row = ("skipped", "TOKEN_REFUSED")
LATE: Row = ("skipped", "MAX_TIME")
NOT_READY: Row = ("skipped", "NOT_READY")


def make_report(*rows: Row) -> EvalReport:
    results = tuple(
        EvalResult(
            name=str(index), case=str(index), status=status, error=CaseError(code=code, message="") if code else None
        )
        for index, (status, code) in enumerate(rows)
    )
    return EvalReport(tool_version="", started_at="", target="", duration_ms=0, results=results)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([PASSED], 0),
        ([], 1),
        ([PASSED, FAILED, REFUSED, LATE], 1),
        ([PASSED, REFUSED, NOT_SENT], 3),
        ([PASSED, LATE], 4),
        ([NOT_READY], 4),
        ([LATE, FAILED], 1),
    ],
)
def test_the_code_of_a_run(rows: list[Row], code: int) -> None:
    """A failed check overrides a refused token, which overrides other cases that could not be judged."""
    assert decide_exit_code(make_report(*rows)) == code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_comes_before_all(number: int) -> None:
    """The exit code of an interrupted run is that of its signal, even if a case failed."""
    assert decide_exit_code(make_report(FAILED), interrupted_by=number) == 128 + number


@pytest.mark.parametrize(
    ("error_code", "statuses", "code"),
    [
        (None, ["pass", "warn"], 0),
        (None, ["pass", "fail"], 1),
        ("REMOTE_UNAUTHORIZED", ["fail"], 3),
        ("REMOTE_UNREACHABLE", ["fail"], 4),
    ],
)
def test_the_code_of_doctor(error_code: str | None, statuses: list[str], code: int) -> None:
    """An error that ended the examination overrides a failed check, and a warning does not count."""
    findings = [{"check": "health", "status": status, "happened": ""} for status in statuses]
    diagnosis = Diagnosis.model_validate({"target": "", "findings": findings, "error_code": error_code})
    assert decide_doctor_exit_code(diagnosis) == code


def test_the_code_of_a_list() -> None:
    """An empty list is a failure, as an empty run is."""
    assert decide_list_exit_code([]) == 1
    assert decide_list_exit_code(as_evals(EvalCase(name="a", prompt="x"))) == 0


def test_the_codes_are_told_alike() -> None:
    """The help of `run` explains every code as the module that decides it does."""
    help_text = " ".join(str(run.__doc__).split())
    documented = " ".join(str(exits.__doc__).split("\n\n")[1].split())
    meanings = [part.strip(" .\n") for part in documented.split(" · ")]
    assert [meaning for meaning in meanings if meaning not in help_text] == []
    assert [int(re.findall(r"\d+", meaning)[0]) for meaning in meanings] == [0, 1, 2, 3, 4, 130, 143]
