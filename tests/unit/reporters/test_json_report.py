"""The JSON report: a documented format that holds whatever an agent sent."""

import json
from typing import Any

from remote_evals.reporters import json_report, render_json_report
from tests.unit.reporters.report_samples import assert_snapshot, call, case, report, rich_report, run


def rendered(*results: Any) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    parsed: dict[str, Any] = json.loads(render_json_report(report(*results)), parse_constant=refuse)
    return parsed


def keys_in(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(keys_in, value))
    return set(value).union(*map(keys_in, value.values())) if isinstance(value, dict) else set()


def test_the_whole_report_is_as_stored() -> None:
    """The JSON of a rich report is the stored one, to the byte."""
    assert_snapshot("report.json", render_json_report(rich_report()))


def test_every_field_is_documented() -> None:
    """The docstring of the module names every field that the report has."""
    one = run(call("a", outcome="error", error={"name": "E"}), pending_approval=dict.fromkeys(("tool",), "t") and None)
    fields = keys_in(rendered(case("a", one)))
    assert {field for field in fields if field not in str(json_report.__doc__)} == set()


def test_no_case_is_a_report_too() -> None:
    """A run without cases has no rate of 1 and no cost of 0."""
    summary = rendered()["summary"]
    assert (summary["total"], summary["pass_rate"], summary["cost_usd"]) == (0, 0.0, None)


def test_numbers_that_are_not_finite_are_words() -> None:
    """NaN and the infinities, which JSON lacks, stay readable as strings."""
    one = run(call("a", {"x": [float("nan"), float("inf"), -float("inf"), 1.5]}))
    assert rendered(case("a", one))["results"][0]["tool_calls"][0]["args"] == {
        "x": ["NaN", "Infinity", "-Infinity", 1.5]
    }


def test_text_that_is_no_utf8_survives() -> None:
    """Lone surrogates and NUL come out of the file as they came off the wire."""
    assert rendered(case("a", run(reply="\ud83d\x00")))["results"][0]["reply"] == "\ud83d\x00"


def test_values_beyond_json_are_shown_by_repr() -> None:
    """What an in-process agent returned and JSON cannot hold is its repr, keys too."""
    result = rendered(case("a", run(object={1: {2}, "b": b"x"})))["results"][0]
    assert result["object"] == {"1": "{2}", "b": "b'x'"}


def test_the_deepest_value_is_cut() -> None:
    """A value nested deeper than Python can walk, or within itself, ends in a remark."""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    loop: list[Any] = []
    loop.append(loop)
    text = json.dumps(rendered(case("a", run(object=deep)), case("b", run(object=loop))))
    assert text.count("[nested too deeply]") == 4
