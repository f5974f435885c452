import pytest
from pydantic import ValidationError

from remote_evals.results import AssertionResult, EvalReport, EvalResult, RunResult, Status, Timing
from tests.unit.builders import call, run, usage


def asserted(passed: bool, kind: str = "gate", score: float | None = None) -> AssertionResult:
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
        (result("failed", asserted(True), asserted(False), asserted(True), asserted(False)), 0.5),
        (result("passed", asserted(True), asserted(False, "soft")), 0.5),
        (result("passed", asserted(True, score=0.8), asserted(True)), 0.9),
        (result("passed"), 1.0),
        (result("failed"), 0.0),
        (result("error", asserted(True)), 0.0),
        (result("skipped", asserted(True)), 0.0),
    ],
    ids=["half", "soft counts", "measured", "nothing passed", "nothing failed", "error", "skipped"],
)
def test_the_score_is_the_share_of_assertions_passed(outcome: EvalResult, score: float) -> None:
    """A case scores the mean of its assertions, and nothing when it could not be judged."""
    assert outcome.score == pytest.approx(score)


def test_failed_assertions_are_listed_by_kind() -> None:
    """The failed gates and the failed soft assertions of a case are told apart, in order."""
    gate, soft = asserted(False), asserted(False, "soft")
    outcome = result("failed", asserted(True), soft, gate, gate)
    assert (outcome.failed("gate"), outcome.failed("soft")) == ([gate, gate], [soft])


@pytest.mark.parametrize("status", ["passed", "failed", "error", "skipped"])
def test_only_a_passed_case_is_passed(status: Status) -> None:
    """A case that failed, could not be judged or was skipped is not passed."""
    assert result(status).passed is (status == "passed")


def test_a_report_counts_every_case_once() -> None:
    """The counts of the four outcomes add up to all cases, and the rate is the share that passed."""
    statuses: list[Status] = ["passed", "passed", "failed", "error", "skipped"]
    whole = report(*(result(status, name=f"case {index}") for index, status in enumerate(statuses)))
    assert [whole.count(status) for status in ("passed", "failed", "error", "skipped")] == [2, 1, 1, 1]
    assert whole.pass_rate == 0.4


def test_a_report_without_cases_has_passed_nothing() -> None:
    """No case at all is a rate and a score of zero, and no tokens or dollars are known."""
    empty = report()
    assert (empty.pass_rate, empty.avg_score, empty.total_tokens, empty.cost_usd) == (0.0, 0.0, None, None)


def test_a_report_adds_up_what_is_known() -> None:
    """Steps, tokens, dollars and failed soft assertions are summed over the cases that reported them."""
    whole = report(
        result("passed", asserted(False, "soft"), run=run(steps=2, usage=usage(10, 0.5))),
        result("failed", asserted(False), asserted(False, "soft"), run=run(steps=1, usage=usage(5, None))),
        result("error"),
    )
    assert (whole.steps, whole.total_tokens, whole.cost_usd, whole.soft_failed) == (3, 15, 0.5, 2)


def test_a_price_of_zero_is_known() -> None:
    """Cases that cost nothing cost 0 dollars, not an unknown number."""
    assert report(result(run=run(usage=usage(1, 0.0)))).cost_usd == 0.0


def test_the_time_of_a_case_is_the_agents() -> None:
    """A case took as long as its runs did."""
    assert result(run=run(timing=Timing(total_ms=70))).duration_ms == 70


def test_results_cannot_be_changed() -> None:
    """What happened is a record: nobody who is handed one can change it."""
    with pytest.raises(ValidationError):
        call().name = "other"  # type: ignore[misc]
