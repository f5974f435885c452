"""A JSON report is read back into the report that it was rendered from."""

import json
from typing import Any

import pytest

from remote_evals.reporters import parse_json_report, render_json_report, render_junit, render_summary
from remote_evals.results import AssertionResult, CaseError, PendingApproval
from tests.unit.reporters.report_samples import case, report, rich_report, run


def changed(path: str, value: Any) -> str:
    """Return a JSON report with one value replaced, or removed for `...`."""
    document: Any = json.loads(render_json_report(report(case("a", run(), run()))))
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place = document
    for parent in parents:
        place = place[parent]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(document)


def test_a_report_comes_back_whole() -> None:
    """A rich report that is read back renders to the same JSON, text and XML."""
    text = render_json_report(rich_report())
    parsed = parse_json_report(text)
    assert render_json_report(parsed) == text
    assert render_summary(parsed) == render_summary(rich_report())
    assert render_junit(parsed) == render_junit(rich_report())


def test_what_no_json_holds_comes_back_as_it_was_written() -> None:
    """Lone surrogates survive, and a number that is not finite stays the word for it."""
    one = run(reply="\ud83d", object={"\udc00": float("nan")})
    parsed = parse_json_report(render_json_report(report(case("a", one), duration_ms=float("inf"))))
    assert (parsed.results[0].output, parsed.results[0].run.object) == ("\ud83d", {"\udc00": "NaN"})
    assert parsed.duration_ms == float("inf")


def test_a_report_of_an_earlier_version_is_read() -> None:
    """A missing field gets its default, and an unknown field is ignored."""
    assert parse_json_report(changed("results.0.judge_usage", ...)).results[0].judge_usage is None
    assert parse_json_report(changed("results.0.invented", 1)).results[0].name == "a"


def test_what_came_later_comes_back_too() -> None:
    """Retries, warnings, lost events, an HTTP status and `conclusive` are read as they were written."""
    odd = run(retries=2, warnings=("a gap",), missing=("events",))
    made = AssertionResult(name="x", passed=False, score=0, conclusive=True)
    error = CaseError(code="REMOTE_STATUS", message="the answer was 503", status=503)
    one = report(case("a", odd, status="failed", assertions=(made,), error=error))
    assert parse_json_report(render_json_report(one)) == one


@pytest.mark.parametrize(
    "path",
    [
        *("interrupted", "cases", "results.0.pass_at", "results.0.judged_score", "results.0.checks"),
        *("results.0.target", "results.0.retries", "results.0.warnings", "results.0.missing", "results.0.error"),
        *("results.0.turns.0.retries", "results.0.turns.0.warnings", "results.0.turns.0.last_event"),
    ],
)
def test_a_report_without_a_later_field_is_read(path: str) -> None:
    """Each field that a report of an earlier version may lack has a default."""
    whole = report(case("a", run(), run()))
    assert parse_json_report(changed(path, ...)).cases[0].status == whole.cases[0].status


def test_parts_without_later_fields_are_read() -> None:
    """An error has no status, and an assertion is not conclusive, if an earlier version did not say so."""
    text = changed("results.0.error", {"code": "REMOTE_STATUS", "message": "500"})
    assert parse_json_report(text).results[0].error == CaseError(code="REMOTE_STATUS", message="500")
    old = {"name": "x", "kind": "gate", "passed": True, "score": 1.0, "message": ""}
    [made] = parse_json_report(changed("results.0.assertions", [old])).results[0].assertions
    assert (made.key, made.conclusive, made.turn) == ("", False, None)


def test_a_report_with_one_pending_approval_is_read() -> None:
    """An earlier version knew one pending approval at a time."""
    request: dict[str, Any] = {"approval_id": "a", "tool_call_id": "c", "tool": "refund", "args": {}, "question": None}
    old = json.loads(changed("results.0.pending_approval", request))
    del old["results"][0]["pending_approvals"]
    [read] = parse_json_report(json.dumps(old)).results
    assert read.run.pending_approvals == (PendingApproval(approval_id="a", tool_call_id="c", tool="refund"),)
    assert read.run.pending_approval == read.run.pending_approvals[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the report is not JSON: Expecting property name"),
        ('{"a": NaN}', "the report is not JSON: NaN is not a JSON value"),
        ("[" * 200_000, "nested too deeply"),
        ("[]", "the report: must be an object, got a list"),
        ("{}", "format_version: must be an integer of 1 or more, got null; is this a report at all?"),
        (changed("format_version", "1"), 'got "1"; is this a report'),
        (changed("format_version", {}), "got an object"),
        (changed("format_version", "x" * 90), f'got "{"x" * 39}…; is'),
        (changed("summary", 1), "summary: must be an object, got 1"),
        (changed("summary.duration_ms", ...), "summary.duration_ms: Field required"),
        (changed("results", ...), "results: must be a list, got null"),
        (changed("results.0", None), r"results\[0\]: must be an object, got null"),
        (changed("results.0.turns", {}), r"results\[0\].turns: must be a list, got an object"),
        (changed("results.0.turns.1", 1), r"results\[0\].turns\[1\]: must be an object, got 1"),
        (changed("results.0.status", "fine"), r"results\[0\].status: Input should be 'passed'"),
        (changed("results.0.steps", "many"), r"results\[0\].steps: Input should be a valid integer"),
        (changed("results.0.run_error", {}), r"results\[0\].run_error.name: Field required"),
        (changed("results.0.turns.1.run_error", {}), r"results\[0\].turns\[1\].run_error.name: Field required"),
        (changed("target", 1), "^target: Input should be a valid string"),
    ],
    ids=range(19),
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    """A text that is not a report is rejected with what is wrong, and where."""
    with pytest.raises(ValueError, match=message):
        parse_json_report(text)


def test_a_later_format_is_refused() -> None:
    """A report of a later format says which version wrote it, and what to do."""
    message = (
        'the report has format 2, written by remote-evals "0.1.0"; this version reads formats up to 1. '
        "Upgrade remote-evals to read it."
    )
    with pytest.raises(ValueError, match=message):
        parse_json_report(changed("format_version", 2))
