"""Cases that run more than once: a session and a row per run, and one outcome for all."""

from typing import Any

import pytest

from remote_evals import Eval, EvalCase, EvalContext, EvalReport, EvalRunner, RemoteTarget, define_eval
from remote_evals.testing import scripted_agent
from tests.serving.deployments import PATIENT, serve


def alternating(*passes: bool) -> Any:
    """Return a factory of agents that say "yes" or "no", one session after the other."""
    left = list(passes)

    def make() -> Any:
        word = "yes" if left.pop(0) else "no"
        return lambda prompt: word

    return make


def case(name: str = "flow", **settings: Any) -> EvalCase:
    return EvalCase.model_validate({"name": name, "prompt": "hi", "must_contain": "yes", **settings})


def statuses(report: EvalReport) -> dict[str, str]:
    return {result.name: result.status for result in report.results}


def test_every_run_has_its_own_session_and_row() -> None:
    """The runs of a case are numbered rows of one case, each in a new session."""
    with serve({"text": "yes, turn {{turn}}"}) as server:
        report = EvalRunner(RemoteTarget(server.url, limits=PATIENT)).run(case(repeat=3))
        sessions = {request.body["sessionId"] for request in server.requests}
    assert statuses(report) == {"flow #1": "passed", "flow #2": "passed", "flow #3": "passed"}
    assert {result.session_id for result in report.results} == sessions
    assert len(sessions) == 3
    assert {result.output for result in report.results} == {"yes, turn 1"}
    assert [(one.name, one.status, one.rate, one.is_flaky) for one in report.cases] == [
        ("flow", "passed", "3/3", False)
    ]
    assert (report.total_cases, report.passed) == (1, 1)


@pytest.mark.parametrize(
    ("passes", "pass_at", "status", "flaky"),
    [
        ((True, False, True), 2, "passed", True),
        ((True, False, True), None, "failed", True),
        ((False, False, True), 2, "failed", True),
        ((False, False, False), 1, "failed", False),
        ((True, True, True), 3, "passed", False),
    ],
)
def test_enough_runs_must_pass(passes: tuple[bool, ...], pass_at: int | None, status: str, flaky: bool) -> None:
    """A case passes when `pass_at` of its runs do, or all; it is flaky if some passed and some failed."""
    runner = EvalRunner(agent=alternating(*passes), concurrency=1)
    [outcome] = runner.run(case(repeat=3, pass_at=pass_at)).cases
    assert (outcome.status, outcome.is_flaky, outcome.rate) == (status, flaky, f"{sum(passes)}/3")


def test_scores_and_times_have_mean_and_spread() -> None:
    """A case has the mean, least and greatest score and time of its runs."""
    [outcome] = EvalRunner(agent=alternating(True, False), concurrency=1).run(case(repeat=2)).cases
    assert (outcome.score.mean, outcome.score.least, outcome.score.greatest) == (0.5, 0.0, 1.0)
    assert 0 < outcome.duration_ms.least <= outcome.duration_ms.mean <= outcome.duration_ms.greatest


@pytest.mark.parametrize(("runs", "rows"), [(1, ["flow"]), (2, ["flow #1", "flow #2"]), (None, ["flow #1"])])
def test_runs_overrides_repeat(runs: int | None, rows: list[str]) -> None:
    """The runner's number of runs overrides the `repeat` of all cases."""
    report = EvalRunner(agent=lambda prompt: "yes", runs=runs).run(case(repeat=3))
    assert [result.name for result in report.results][: len(rows)] == rows
    assert len(report.results) == (runs or 3)


def test_evals_in_code_repeat_too() -> None:
    """Each case of an eval in code runs `repeat` times, and passes when `pass_at` of its runs do."""

    @define_eval(name="e", agent=scripted_agent(["yes"]), repeat=2, pass_at=1, cases=[{"input": "a"}, {"input": "b"}])
    async def test(t: EvalContext, data: dict[str, str]) -> None:
        await t.send(data["input"])
        t.completed()

    report = EvalRunner().run(test)
    assert list(statuses(report)) == ["e / a #1", "e / a #2", "e / b #1", "e / b #2"]
    assert [(one.name, one.needed) for one in report.cases] == [("e / a", 1), ("e / b", 1)]


def test_fail_fast_starts_nothing_more() -> None:
    """After a failed case nothing more is sent: the other cases are skipped, and say why."""
    runner = EvalRunner(agent=alternating(True, False), concurrency=1, fail_fast=True)
    report = runner.run([case("a"), case("b"), case("c"), case("d")])
    assert statuses(report) == {"a": "passed", "b": "failed", "c": "skipped", "d": "skipped"}
    assert {result.error.code for result in report.results if result.error} == {"FAILED_FAST"}
    assert not report.interrupted


def test_fail_fast_ends_at_an_error() -> None:
    """An error stops the run too, since the case did not pass."""

    async def broken(t: EvalContext) -> None:
        raise LookupError

    runner = EvalRunner(agent=lambda prompt: "yes", concurrency=1, fail_fast=True)
    assert statuses(runner.run([Eval("a", broken), case("b")])) == {"a": "error", "b": "skipped"}


def test_fail_fast_lets_a_case_miss_as_often_as_it_may() -> None:
    """A failed run stops nothing while its case can still pass; the first failure too many stops the rest."""
    within = EvalRunner(agent=alternating(False, True, True, True), concurrency=1, fail_fast=True)
    assert statuses(within.run([case("a", repeat=3, pass_at=2), case("b")])) == {
        "a #1": "failed",
        "a #2": "passed",
        "a #3": "passed",
        "b": "passed",
    }
    beyond = EvalRunner(agent=alternating(False, False), concurrency=1, fail_fast=True)
    assert statuses(beyond.run([case("a", repeat=3, pass_at=2), case("b")])) == {
        "a #1": "failed",
        "a #2": "failed",
        "a #3": "skipped",
        "b": "skipped",
    }


def test_a_runner_that_failed_fast_can_run_again() -> None:
    """A runner that failed fast can run again."""
    runner = EvalRunner(agent=alternating(False, True, True), concurrency=1, fail_fast=True)
    assert statuses(runner.run([case("a"), case("b")])) == {"a": "failed", "b": "skipped"}
    assert statuses(runner.run([case("a"), case("b")])) == {"a": "passed", "b": "passed"}


def test_each_run_has_the_whole_time_limit() -> None:
    """Each run of a case has the full time limit: one that takes too long does not affect the others."""

    async def hang(t: EvalContext) -> None:
        await t.send("hi")
        t.completed()

    replies = [{"when": {"input": "hi"}, "text": "yes", "fault": {"name": "no-headers", "times": 1}}]
    with serve(*replies) as server:
        runner = EvalRunner(RemoteTarget(server.url, limits=PATIENT), concurrency=1)
        report = runner.run(Eval("a", hang, repeat=2, timeout_s=0.5))
    first, second = report.results
    assert (first.status, second.status) == ("error", "passed")
    assert first.error is not None
    assert "500 ms" in first.error.message or "500ms" in first.error.message or "0.5" in first.error.message
