"""A reason that several cases share: the summary shows it once, and its code under the other cases."""

from typing import Any

from remote_evals.reporters import render_summary
from remote_evals.results import AssertionResult, CaseError, EvalResult, RunResult
from tests.unit.reporters.report_samples import case, repeated, report, run, skipped, under_way

MESSAGE = "https://shop.example: could not connect. Is it up?"
DOWN = f"REMOTE_UNREACHABLE: {MESSAGE}"


def rows(*results: EvalResult) -> list[str]:
    """Return the rows of the cases, without the head and the totals."""
    return render_summary(report(*results)).splitlines()[3:-2]


def down(name: str, message: str = MESSAGE, *turns: RunResult, **fields: Any) -> EvalResult:
    error = CaseError(code="REMOTE_UNREACHABLE", message=message)
    return case(name, *turns, **{"status": "error", "error": error, "session_id": None, **fields})


def test_a_reason_is_told_once() -> None:
    """Of cases with one reason, the first shows it in full and the others show its code."""
    assert rows(*(skipped(name, session_id=None) for name in "abc")) == [
        "[SKIP] a",
        "       INTERRUPTED: not done when the run was interrupted",
        "[SKIP] b … INTERRUPTED, as above",
        "[SKIP] c … INTERRUPTED, as above",
    ]


def test_another_reason_is_told() -> None:
    """A reason that was not the last one shown is shown again, since "above" would mean another one."""
    text = rows(down("a"), down("b", "x"), down("c"), down("d"))
    assert text == [
        *("[ERROR] a", f"       {DOWN}"),
        *("[ERROR] b", "       REMOTE_UNREACHABLE: x"),
        *("[ERROR] c", f"       {DOWN}"),
        "[ERROR] d … REMOTE_UNREACHABLE, as above",
    ]


def test_what_passes_in_between_changes_nothing() -> None:
    """A case that passed has no reason, so the last reason shown stays "above"."""
    assert rows(down("a"), case("b", run()), down("c"))[-1] == "[ERROR] c … REMOTE_UNREACHABLE, as above"


def test_a_failure_is_always_told_whole() -> None:
    """A case that failed and then broke shows both, and the next case shows its reason again."""
    gate = AssertionResult(name="x", passed=False, score=0, message="x failed")
    text = rows(down("a"), down("b", status="failed", assertions=(gate,)), down("c"))
    assert text.count(f"       {DOWN}") == 3


def test_ids_of_its_own_make_no_other_reason() -> None:
    """Messages that differ only in their session and traces are one reason, and each case keeps its ids."""
    texts = []
    for number in ("1", "2"):
        turn = run(trace_id=number * 32, reply="", finish_reason=None)
        ids = f"eval-{number * 24}", turn.trace_id
        texts.append(down(number, "no session {} in {}".format(*ids), turn, session_id=ids[0]))
    first, *others = rows(*texts)
    assert first == "[ERROR] 1 (1.9s)"
    assert others == [
        f"       REMOTE_UNREACHABLE: no session eval-{'1' * 24} in {'1' * 32}",
        f"       session eval-{'1' * 24} · trace {'1' * 32}",
        "[ERROR] 2 (1.9s) … REMOTE_UNREACHABLE, as above",
        f"       session eval-{'2' * 24} · trace {'2' * 32}",
    ]


def test_runs_of_a_case_share_reasons_too() -> None:
    """The runs of a repeated case show a shared reason once."""
    error = CaseError(code="REMOTE_STATUS", message="the answer was 503")
    text = rows(*repeated("flow", "error", "error", error=error, assertions=(), run=run(), turns=()))
    assert [line for line in text if "REMOTE_STATUS" in line] == [
        "              REMOTE_STATUS: the answer was 503",
        "       [ERROR] flow #2 (1.9s) … REMOTE_STATUS, as above",
    ]


def test_a_case_that_was_cut_off_shows_what_it_had_done() -> None:
    """A case that was cut off shows its calls and its ids, whether or not its reason was shown above."""
    seen = [
        "       under way: it was cut off, and what was sent may still take effect",
        '       tools so far: issue_refund({"orderId": "41"}) -> not finished',
        "       session eval-7f3a · trace 4bf92f3577b34da6a3ce929d0e0e4736",
    ]
    assert rows(skipped("a", under_way()), skipped("b", under_way())) == [
        "[SKIP] a (4.0s)",
        "       INTERRUPTED: not done when the run was interrupted",
        *seen,
        "[SKIP] b (4.0s) … INTERRUPTED, as above",
        *seen,
    ]


def test_what_was_cut_off_makes_a_lower_bound() -> None:
    """The usage of a case that was cut off is unknown, so the totals are lower bounds."""
    totals = render_summary(report(case("a", run()), skipped("b", under_way()))).splitlines()[-1]
    assert "2+ steps · 800+ tokens · $0.0031+" in totals
    assert "2 steps · 800 tokens · $0.0031 " in render_summary(report(case("a", run()), skipped("b")))
