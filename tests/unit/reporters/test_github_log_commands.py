"""Commands to the agents of Azure, GitHub and TeamCity: a report that is printed to a log contains none."""

import json
import re
from collections.abc import Callable
from xml.etree.ElementTree import fromstring

import pytest

from remote_evals.core.json_values import render_json_text
from remote_evals.doctor import page as json_page
from remote_evals.reporters import (
    parse_json_report,
    render_annotations,
    render_json_report,
    render_junit,
    render_markdown,
    render_summary,
)
from remote_evals.results import AssertionResult, CaseError, EvalReport
from tests.unit.reporters.report_samples import call, case, report, run

ATTACKS = "##vso[task.setvariable x]y ##[section]z ##teamcity[message] ##VSO[a] ###[group] ######[b]"
OBEYED = re.compile(r"##(vso|teamcity)?\[", re.IGNORECASE)


def attacking() -> EvalReport:
    failed = AssertionResult(name=ATTACKS, key=ATTACKS, passed=False, score=0, message=ATTACKS)
    one = run(call(ATTACKS, {ATTACKS: [ATTACKS]}), reply=f"{ATTACKS}\n{ATTACKS}")
    error = CaseError(code="EVAL_FAILED", message=ATTACKS)
    where = {"suite": ATTACKS, "file": ATTACKS, "tags": (ATTACKS,), "metadata": {ATTACKS: ATTACKS}}
    return report(
        case(ATTACKS, one, status="failed", assertions=(failed,), **where),
        case("b", one, status="skipped", error=error, **where),
        target=ATTACKS,
    )


@pytest.mark.parametrize(
    "render",
    [render_annotations, render_json_report, render_junit, render_markdown, render_summary, EvalReport.summary],
)
def test_no_report_holds_a_command(render: Callable[[EvalReport], str]) -> None:
    """No report contains the mark of such a command, whatever an agent or a suite says."""
    text = render(attacking())
    assert "task.setvariable" in text
    assert not OBEYED.search(text)


def test_json_keeps_the_value() -> None:
    """In JSON the mark is an escape, so that a parser returns the original text."""
    text = render_json_report(attacking())
    assert "##" not in text
    assert json.loads(text)["results"][0]["tool_calls"][0]["name"] == ATTACKS
    assert parse_json_report(text) == attacking()


def test_an_escape_before_a_mark_stays_one() -> None:
    r"""A backslash before the mark, and an escape that ends at it, are read back unchanged."""
    text = "\\## \\\\### \u20ac## #"
    assert json.loads(render_json_report(report(case(text, run()))))["results"][0]["name"] == text


def test_xml_says_what_was_written() -> None:
    """In XML the mark is visibly broken up, as on a terminal."""
    (first, _) = fromstring(render_junit(attacking())).iter("testcase")  # noqa: S314 - made here
    assert str(first.get("name")).startswith(r"#\x23vso[task.setvariable x]y #\x23[section]z #\x23teamcity[message]")


def test_headings_stay_headings() -> None:
    """Two number signs that start no command are unchanged in text for people."""
    assert "reply: ## Title" in render_summary(report(case("a", run(reply="## Title"), status="failed")))


def test_the_doctors_page_holds_none() -> None:
    """Other JSON documents, such as the doctor's, are written by the same function."""
    assert json_page.__dict__["render_json_text"] is render_json_text
    assert "##" not in render_json_text({ATTACKS: ATTACKS})
