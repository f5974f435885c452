"""The JUnit report: one file that GitHub's actions, GitLab, Jenkins and CircleCI all read right."""

from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from remote_evals.reporters import render_junit
from remote_evals.results import AssertionResult, CaseError, EvalResult
from tests.unit.reporters.report_samples import assert_snapshot, case, report, rich_report, run

ERROR = CaseError(code="REMOTE_STREAM", message="the stream broke")


def parsed(*results: EvalResult, **fields: Any) -> Element:
    # the file under test was made here, and its parser is the one that its readers have
    return fromstring(render_junit(report(*results, **fields)))  # noqa: S314


def find(root: Element, path: str) -> Element:
    found = root.find(path)
    assert found is not None
    return found


def failing(name: str, **fields: Any) -> AssertionResult:
    return AssertionResult(name=name, passed=False, score=0.0, message=f"{name} failed: seen", **fields)


def test_the_whole_report_is_as_stored() -> None:
    """The XML of a rich report is the stored one, to the byte."""
    assert_snapshot("report.junit.xml", render_junit(rich_report()))


def test_totals_are_those_of_the_cases() -> None:
    """The counts of the root and of each suite are those of the cases below."""
    root = parsed(*rich_report().results)
    for parent in [root, *root.findall("testsuite")]:
        counts = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
        assert {name: parent.get(name) for name in counts} == {
            name: str(len(parent.findall(f".//{tag}"))) for name, tag in counts.items()
        }


def test_suites_of_one_name_in_two_files_stay_apart() -> None:
    """A suite is its name and its file, and keeps its place."""
    files = ("b.yaml", "a.yaml", "b.yaml")
    root = parsed(*(case(f"case {index}", run(), file=file) for index, file in enumerate(files)))
    assert [(suite.get("file"), len(suite.findall("testcase"))) for suite in root] == [("b.yaml", 2), ("a.yaml", 1)]


def test_all_failed_gates_stand_in_one_failure() -> None:
    """Readers show only the first failure of a case, so that it lists every failed gate."""
    asserted = (failing("first"), failing("second"), AssertionResult(name="third", passed=True, score=1))
    (failure,) = parsed(case("a", run(), status="failed", assertions=asserted)).iter("failure")
    assert failure.get("message") == "first failed: seen (and 1 more)"
    assert str(failure.text).splitlines()[:2] == ["first failed: seen", "second failed: seen"]


def test_a_failure_before_a_breakdown_stays_a_failure() -> None:
    """A case that failed and then broke is a failure that mentions the error: Jenkins would show the error alone."""
    root = parsed(case("a", run(), status="failed", error=ERROR, assertions=(failing("first"),)))
    assert "REMOTE_STREAM: the stream broke" in str(find(root, ".//failure").text)
    assert root.find(".//error") is None


def test_a_case_that_could_not_be_judged_is_an_error() -> None:
    """The type of an error is its code, and what had been said by then stands in its text."""
    error = find(parsed(case("a", run(reply="Let me", finish_reason=None), status="error", error=ERROR)), ".//error")
    assert (error.get("type"), error.get("message")) == ("REMOTE_STREAM", "the stream broke")
    assert "reply so far: Let me" in str(error.text)


def test_a_skip_repeats_its_reason_as_text() -> None:
    """GitLab reads the text of a skip, the others its message."""
    skipped = find(parsed(case("a", status="skipped", error=CaseError(code="X", message="why"))), ".//skipped")
    assert (skipped.get("message"), skipped.text) == ("why", "why")


def test_a_soft_failure_is_a_remark() -> None:
    """A soft failure fails nothing; it stands in the output of its case."""
    root = parsed(case("a", run(), assertions=(failing("tone", kind="soft"),)))
    assert root.get("failures") == "0"
    assert find(root, ".//system-out").text == "soft: tone failed: seen"


def test_under_strict_a_soft_failure_is_the_failure() -> None:
    """A case that failed by its soft assertions alone says so in its failure, and only there."""
    root = parsed(case("a", run(), status="failed", assertions=(failing("tone", kind="soft"),)))
    assert find(root, ".//failure").get("type") == "soft"
    assert root.find(".//system-out") is None


@pytest.mark.parametrize("status", ["failed", "error", "skipped"])
def test_a_status_without_a_reason_is_shown_all_the_same(status: str) -> None:
    """A result that gives no reason for its status still has an element with a message."""
    (outcome,) = (found for found in find(parsed(case("a", status=status)), ".//testcase") if found.tag != "properties")
    assert outcome.get("message")


def test_nothing_known_is_no_attribute() -> None:
    """A case of no file has no `file`, and its suite still has a name."""
    root = parsed(case("a", run(), suite="", file=""))
    assert find(root, "testsuite").get("name") == "remote-evals"
    assert find(root, ".//testcase").get("file") is None


def test_illegal_characters_are_visible() -> None:
    """What XML forbids is written out, and line breaks and tabs stay."""
    root = parsed(case("\x00\x1b\ud83d\ufffe\uffff\x85\tok\nok", run()))
    assert find(root, ".//testcase").get("name") == r"\x00\x1b\ud83d\ufffe\uffff\x85" + "\tok\nok"


def test_an_agent_cannot_attach_files() -> None:
    """The mark that makes Jenkins and GitLab attach a file never comes from an agent."""
    asserted = (failing("[[ATTACHMENT|/etc/passwd]]", kind="soft"),)
    assert "[[ATTACHMENT|" not in render_junit(report(case("a", run(), assertions=asserted)))
