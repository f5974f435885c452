"""The JSON report: a documented format that holds any text or value of an agent."""

import json
from typing import Any

from remote_evals.reporters import render_json_report
from remote_evals.results import JudgeUsage
from tests.unit.reporters.report_samples import assert_snapshot, call, case, repeated, report, rich_report, run


def rendered(*results: Any) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    parsed: dict[str, Any] = json.loads(render_json_report(report(*results)), parse_constant=refuse)
    return parsed


def test_the_whole_report_is_as_stored() -> None:
    """The JSON of the rich report equals the stored one, byte for byte."""
    assert_snapshot("report.json", render_json_report(rich_report()))


def test_no_case_is_a_report_too() -> None:
    """A run without cases does not have a pass rate of 1 or a cost of 0."""
    summary = rendered()["summary"]
    assert (summary["total"], summary["pass_rate"], summary["cost_usd"]) == (0, 0.0, None)


def test_numbers_that_are_not_finite_are_words() -> None:
    """NaN and the infinities, which JSON lacks, are strings."""
    one = run(call("a", {"x": [float("nan"), float("inf"), -float("inf"), 1.5]}))
    assert rendered(case("a", one))["results"][0]["tool_calls"][0]["args"] == {
        "x": ["NaN", "Infinity", "-Infinity", 1.5]
    }


def test_text_that_is_no_utf8_survives() -> None:
    """Lone surrogates and NUL are the same in the file as on the wire."""
    assert rendered(case("a", run(reply="\ud83d\x00")))["results"][0]["reply"] == "\ud83d\x00"


def test_values_beyond_json_are_shown_by_repr() -> None:
    """A value of an in-process agent that JSON cannot hold is its repr, including keys."""
    result = rendered(case("a", run(object={1: {2}, "b": b"x"})))["results"][0]
    assert result["object"] == {"1": "{2}", "b": "b'x'"}


def test_the_deepest_value_is_cut() -> None:
    """A value that is nested too deeply, or within itself, ends in a remark."""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    loop: list[Any] = []
    loop.append(loop)
    text = json.dumps(rendered(case("a", run(object=deep)), case("b", run(object=loop))))
    assert text.count("[nested too deeply]") == 4


def test_a_repeated_case_is_counted_once() -> None:
    """The summary counts cases and, separately, runs; each case says how its runs ended."""
    document = rendered(case("a", run()), *repeated("flow", "passed", "failed", "passed", pass_at=2))
    summary = document["summary"]
    assert (summary["total"], summary["passed"], summary["failed"], summary["flaky"]) == (2, 2, 0, 1)
    assert summary["runs"] == {"total": 4, "passed": 3, "pass_rate": 0.75}
    assert document["cases"][1] == {
        "name": "flow",
        "suite": "orders",
        "file": "evals/orders.eval.yaml",
        "status": "passed",
        "runs": 3,
        "passed_runs": 2,
        "needed": 2,
        "flaky": True,
        "rate": "2/3",
        "score": {"mean": 2 / 3, "least": 0.0, "greatest": 1.0},
        "duration_ms": {"mean": 1900.0, "least": 1900.0, "greatest": 1900.0},
    }
    assert [result["name"] for result in document["results"]] == ["a", "flow #1", "flow #2", "flow #3"]


def test_checks_are_told_by_their_keys() -> None:
    """A run maps the key of each check to whether it passed, and has the judge's score and usage."""
    usage = JudgeUsage(total_tokens=3, calls=1)
    (result,) = rendered(*repeated("a", "failed", judged_score=0.4, judge_usage=usage))["results"]
    assert result["checks"] == {"output_contains:EUR": False}
    assert (result["score"], result["judged_score"], result["judge_usage"]["calls"]) == (0.4, 0.4, 1)
