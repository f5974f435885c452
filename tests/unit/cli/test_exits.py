"""What each exit code means, and that all who say so agree."""

import re
import signal

import pytest

from remote_evals import EvalCase
from remote_evals.cli import exits as _exit
from remote_evals.cli.exits import decide_checkup_exit_code, decide_exit_code, decide_list_exit_code
from remote_evals.cli.run import run
from remote_evals.doctor import Diagnosis
from remote_evals.results import CaseError, EvalReport, EvalResult, Status
from remote_evals.running.plan import as_evals

Row = tuple[Status, str | None]


def report(*rows: Row) -> EvalReport:
    results = tuple(
        EvalResult(
            name=str(index), case=str(index), status=status, error=CaseError(code=code, message="") if code else None
        )
        for index, (status, code) in enumerate(rows)
    )
    return EvalReport(tool_version="", started_at="", target="", duration_ms=0, results=results)


PASSED: Row = ("passed", None)
FAILED: Row = ("failed", None)
REFUSED: Row = ("error", "REMOTE_UNAUTHORIZED")
SPARED: Row = ("skipped", "TOKEN_REFUSED")
LATE: Row = ("skipped", "MAX_TIME")
UNREADY: Row = ("skipped", "NOT_READY")


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([PASSED], 0),
        ([], 1),
        ([PASSED, FAILED, REFUSED, LATE], 1),
        ([PASSED, REFUSED, SPARED], 3),
        ([PASSED, LATE], 4),
        ([UNREADY], 4),
        ([LATE, FAILED], 1),
    ],
)
def test_the_code_of_a_run(rows: list[Row], code: int) -> None:
    """A failed gate comes first, then a refused token, then whatever else could not be judged."""
    assert decide_exit_code(report(*rows)) == code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_comes_before_all(number: int) -> None:
    """Whatever is known of the cases, an interrupted run says by which signal."""
    assert decide_exit_code(report(FAILED), interrupted_by=number) == 128 + number


@pytest.mark.parametrize(
    ("error_code", "statuses", "code"),
    [
        (None, ["pass", "warn"], 0),
        (None, ["pass", "fail"], 1),
        ("REMOTE_UNAUTHORIZED", ["fail"], 3),
        ("REMOTE_UNREACHABLE", ["fail"], 4),
    ],
)
def test_the_code_of_a_check_up(error_code: str | None, statuses: list[str], code: int) -> None:
    """What kept it from going on comes before a check that failed, and a warning is none."""
    findings = [{"check": "health", "status": status, "happened": ""} for status in statuses]
    diagnosis = Diagnosis.model_validate({"target": "", "findings": findings, "error_code": error_code})
    assert decide_checkup_exit_code(diagnosis) == code


def test_the_code_of_a_list() -> None:
    """A list of nothing is a failure, as a run of nothing is."""
    assert decide_list_exit_code([]) == 1
    assert decide_list_exit_code(as_evals(EvalCase(name="a", prompt="x"))) == 0


def test_the_codes_are_told_alike() -> None:
    """The help of `run` says of every code what the module says that decides it."""
    told = " ".join(str(run.__doc__).split())
    said = [part.strip(" .\n") for part in " ".join(str(_exit.__doc__).split("\n\n")[1].split()).split(" · ")]
    assert [part for part in said if part not in told] == []
    assert [int(re.findall(r"\d+", part)[0]) for part in said] == [0, 1, 2, 3, 4, 130, 143]
