"""What a report counts and adds up, and how its summary reads."""

import pytest
from pydantic import ValidationError

from remote_evals.results import AssertionResult, CaseError, EvalReport, EvalResult, RunResult, Status, Timing
from tests.builders import call, run, usage


def make_assertion(passed: bool, kind: str = "gate", score: float | None = None) -> AssertionResult:
    return AssertionResult.model_validate(
        {"name": "x", "passed": passed, "kind": kind, "score": float(passed) if score is None else score}
    )


def result(
    status: Status = "passed", *assertions: AssertionResult, run: RunResult | None = None, name: str = "a"
) -> EvalResult:
    return EvalResult(name=name, case=name, status=status, assertions=assertions, run=run or RunResult())


def report(*results: EvalResult) -> EvalReport:
    return EvalReport(tool_version="1", started_at="2026-01-01T00:00:00Z", target="t", duration_ms=1, results=results)


@pytest.mark.parametrize(
    ("outcome", "score"),
    [
        (
            result("failed", make_assertion(True), make_assertion(False), make_assertion(True), make_assertion(False)),
            0.5,
        ),
        (result("passed", make_assertion(True), make_assertion(False, "soft")), 0.5),
        (result("passed", make_assertion(True, score=0.8), make_assertion(True)), 0.9),
        (result("passed"), 1.0),
        (result("failed"), 0.0),
        (result("error", make_assertion(True)), 0.0),
        (result("skipped", make_assertion(True)), 0.0),
    ],
    ids=["half", "soft counts", "measured", "nothing passed", "nothing failed", "error", "skipped"],
)
def test_the_score_is_the_share_of_assertions_passed(outcome: EvalResult, score: float) -> None:
    """The score of a case is the mean of its assertions, or 0 if it could not be judged."""
    assert outcome.score == pytest.approx(score)


def test_failed_assertions_are_listed_by_kind() -> None:
    """The failed gates and the failed soft assertions of a case are listed separately, in order."""
    gate, soft = make_assertion(False), make_assertion(False, "soft")
    outcome = result("failed", make_assertion(True), soft, gate, gate)
    assert (outcome.failed("gate"), outcome.failed("soft")) == ([gate, gate], [soft])


@pytest.mark.parametrize("status", ["passed", "failed", "error", "skipped"])
def test_only_a_passed_case_is_passed(status: Status) -> None:
    """A case that failed, could not be judged or was skipped has not passed."""
    assert result(status).passed is (status == "passed")


def test_a_report_counts_every_case_once() -> None:
    """The counts of the four statuses add up to all cases, and the rate is the share that passed."""
    statuses: list[Status] = ["passed", "passed", "failed", "error", "skipped"]
    whole = report(*(result(status, name=f"case {index}") for index, status in enumerate(statuses)))
    assert [whole.count(status) for status in ("passed", "failed", "error", "skipped")] == [2, 1, 1, 1]
    assert whole.pass_rate == 0.4


def test_a_report_without_cases_has_passed_nothing() -> None:
    """A report without cases has a rate and a score of zero, and no known tokens or dollars."""
    empty = report()
    assert (empty.pass_rate, empty.avg_score, empty.total_tokens, empty.cost_usd) == (0.0, 0.0, None, None)


def test_a_report_adds_up_what_is_known() -> None:
    """Steps, tokens, dollars and failed soft assertions are summed over the cases that reported them."""
    whole = report(
        result("passed", make_assertion(False, "soft"), run=run(steps=2, usage=usage(10, 0.5))),
        result("failed", make_assertion(False), make_assertion(False, "soft"), run=run(steps=1, usage=usage(5, None))),
        result("error"),
    )
    assert (whole.steps, whole.total_tokens, whole.cost_usd, whole.soft_failed) == (3, 15, 0.5, 2)


def test_a_price_of_zero_is_known() -> None:
    """Cases that cost nothing have a cost of 0 dollars, not an unknown one."""
    assert report(result(run=run(usage=usage(1, 0.0)))).cost_usd == 0.0


def test_the_time_of_a_case_is_the_agents() -> None:
    """The duration of a case is the time that its agent took."""
    assert result(run=run(timing=Timing(total_ms=70))).duration_ms == 70


def make_repeats(*runs: tuple[Status, float]) -> EvalReport:
    """Return a report of one case with a run for each status and time in milliseconds."""
    rows = [
        EvalResult(
            name=f"flow #{number}",
            case="flow",
            status=status,
            assertions=(make_assertion(status == "passed"),),
            run=RunResult(timing=Timing(total_ms=ms)),
        )
        for number, (status, ms) in enumerate(runs, 1)
    ]
    return report(*rows)


def test_the_summary_of_nothing_says_so() -> None:
    """The summary of an empty report does not read "0/0 passed"."""
    assert report().summary() == "Eval Report: no cases ran"


def test_the_summary_of_repeats_has_their_rate() -> None:
    """Before its runs, a case that ran several times has a line with its rate and whether it is flaky."""
    lines = make_repeats(("passed", 10), ("failed", 20)).summary().splitlines()
    assert lines[0] == "Eval Report: 0/1 passed (avg score: 0.50)"
    assert lines[2] == "  [FAIL] flow (1/2 runs, flaky)"
    assert [line.split(" (")[0] for line in lines[3:] if "[" in line] == ["  [PASS] flow #1", "  [FAIL] flow #2"]
    assert "  [PASS] flow (2/2 runs)" in make_repeats(("passed", 1), ("passed", 1)).summary().splitlines()


def test_the_summary_acts_on_no_terminal() -> None:
    """Escape sequences and line breaks in a name, a key or a message are shown as text."""
    failed = AssertionResult(name="x\x1b[2J", passed=False, score=0)
    error = CaseError(code="EVAL_FAILED", message="raised\x9b2J\n  [PASS] forged")
    shown = report(result("error", failed, name="a\x1b]0;owned\x07").model_copy(update={"error": error})).summary()
    assert shown.splitlines()[2:] == [
        r"  [ERROR] a\x1b]0;owned\x07 (score: 0.00, 0ms)",
        r"         - x\x1b[2J: FAILED",
        r"         - EVAL_FAILED: raised\x9b2J\n  [PASS] forged",
    ]


@pytest.mark.parametrize(
    ("statuses", "flaky"),
    [
        (["passed", "error"], True),
        (["passed", "failed"], True),
        (["passed", "skipped"], False),
        (["passed", "passed"], False),
        (["failed", "error"], False),
        (["error", "skipped"], False),
    ],
    ids=str,
)
def test_a_case_is_flaky_when_its_runs_differ(statuses: list[Status], flaky: bool) -> None:
    """A case is flaky if some of its runs passed and others failed or broke; skipped runs do not count."""
    [case] = make_repeats(*((status, 1) for status in statuses)).cases
    assert case.is_flaky is flaky


def test_runs_that_were_not_made_count_in_no_spread() -> None:
    """A skipped run changes neither the score nor the time of its case; both are 0 if all runs were skipped."""
    [case] = make_repeats(("passed", 30), ("passed", 10), ("skipped", 0)).cases
    assert (case.score.mean, case.score.least) == (1.0, 1.0)
    assert (case.duration_ms.mean, case.duration_ms.least, case.duration_ms.greatest) == (20, 10, 30)
    [none] = make_repeats(("skipped", 0), ("skipped", 0)).cases
    assert (none.score.greatest, none.duration_ms.greatest) == (0, 0)


def test_results_cannot_be_changed() -> None:
    """A result is a record that cannot be changed."""
    with pytest.raises(ValidationError):
        call().name = "other"  # type: ignore[misc]
