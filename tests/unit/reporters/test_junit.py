"""The JUnit report: one file that GitHub's actions, GitLab, Jenkins and CircleCI all read correctly."""

from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest

from remote_evals.reporters import render_junit
from remote_evals.results import AssertionResult, CaseError, EvalResult
from tests.unit.reporters.report_samples import (
    assert_snapshot,
    case,
    repeated,
    report,
    rich_report,
    run,
    skipped,
    under_way,
)

ERROR = CaseError(code="REMOTE_STREAM", message="the stream broke")


def parsed(*results: EvalResult, **fields: Any) -> Element:
    # The XML was made here, and its readers use this parser.
    return fromstring(render_junit(report(*results, **fields)))  # noqa: S314


def find(root: Element, path: str) -> Element:
    found = root.find(path)
    assert found is not None
    return found


def failing(name: str, **fields: Any) -> AssertionResult:
    return AssertionResult(name=name, passed=False, score=0.0, message=f"{name} failed: seen", **fields)


def test_the_whole_report_is_as_stored() -> None:
    """The XML of the rich report equals the stored one, byte for byte."""
    assert_snapshot("report.junit.xml", render_junit(rich_report()))


def test_totals_are_those_of_the_cases() -> None:
    """The counts of the root and of each suite equal the number of elements below."""
    root = parsed(*rich_report().results)
    for parent in [root, *root.findall("testsuite")]:
        counts = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
        assert {name: parent.get(name) for name in counts} == {
            name: str(len(parent.findall(f".//{tag}"))) for name, tag in counts.items()
        }


def test_suites_of_one_name_in_two_files_stay_apart() -> None:
    """A suite is identified by its name and its file, and keeps its place."""
    files = ("b.yaml", "a.yaml", "b.yaml")
    root = parsed(*(case(f"case {index}", run(), file=file) for index, file in enumerate(files)))
    assert [(suite.get("file"), len(suite.findall("testcase"))) for suite in root] == [("b.yaml", 2), ("a.yaml", 1)]


def test_all_failed_gates_stand_in_one_failure() -> None:
    """One failure lists every failed gate, since readers show only the first failure of a case."""
    asserted = (failing("first"), failing("second"), AssertionResult(name="third", passed=True, score=1))
    (failure,) = parsed(case("a", run(), status="failed", assertions=asserted)).iter("failure")
    assert failure.get("message") == "first failed: seen (and 1 more)"
    assert str(failure.text).splitlines()[:2] == ["first failed: seen", "second failed: seen"]


def test_a_failure_before_a_breakdown_stays_a_failure() -> None:
    """A case that failed and then broke is a failure that mentions the error, which Jenkins would prefer."""
    root = parsed(case("a", run(), status="failed", error=ERROR, assertions=(failing("first"),)))
    assert "REMOTE_STREAM: the stream broke" in str(find(root, ".//failure").text)
    assert root.find(".//error") is None


def test_a_case_that_could_not_be_judged_is_an_error() -> None:
    """The type of an error is its code, and its text has the reply so far."""
    error = find(parsed(case("a", run(reply="Let me", finish_reason=None), status="error", error=ERROR)), ".//error")
    assert (error.get("type"), error.get("message")) == ("REMOTE_STREAM", "the stream broke")
    assert "reply so far: Let me" in str(error.text)


def test_a_skip_repeats_its_reason_as_text() -> None:
    """A skip has its reason as text, which GitLab reads, and as message, which the others read."""
    root = parsed(skipped("a", code="FAILED_FAST", message="why"))
    element = find(root, ".//skipped")
    assert (element.get("message"), element.text) == ("why", "why")
    assert (root.get("errors"), root.get("skipped")) == ("0", "1")


@pytest.mark.parametrize("code", ["NOT_READY", "TOKEN_REFUSED", "MAX_TIME", "INTERRUPTED", "REMOTE_STATUS"])
def test_what_was_kept_from_running_is_an_error(code: str) -> None:
    """A case that was kept from running is an error of that type, since no reader turns red for a skip."""
    root = parsed(skipped("a", code=code, message="why"))
    error = find(root, ".//error")
    assert (error.get("type"), error.get("message"), error.text) == (code, "why", f"{code}: why\nsession eval-7f3a")
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["1", "0", "1", "0"]


def test_a_case_that_was_cut_off_shows_what_it_had_done() -> None:
    """The text of a case that was cut off has its calls and its session."""
    text = str(find(parsed(skipped("a", under_way())), ".//error").text).splitlines()
    assert text[2:] == [
        "under way: it was cut off, and what was sent may still take effect",
        'tools so far: issue_refund({"orderId": "41"}) -> not finished',
        "session eval-7f3a · trace 4bf92f3577b34da6a3ce929d0e0e4736",
    ]


def test_a_repeated_case_says_which_run_was_kept_back() -> None:
    """The error of a repeated case names the first run that --fail-fast did not skip."""
    fast = skipped("a #1", case="a", code="FAILED_FAST")
    error = find(parsed(fast, skipped("a #2", case="a"), skipped("a #3", under_way(), case="a")), ".//error")
    assert error.get("message") == "0/3 runs passed, 3 needed; a #2: not done when the run was interrupted"
    assert str(error.text).splitlines()[2] == "a #3:"
    (only,) = parsed(fast, skipped("a #2", case="a", code="FAILED_FAST", message="why")).iter("skipped")
    assert only.text == "0/2 runs passed, 2 needed; a #1: not done when the run was interrupted"


def test_a_soft_failure_is_a_remark() -> None:
    """A soft failure is in the output of its case, and fails nothing."""
    root = parsed(case("a", run(), assertions=(failing("tone", kind="soft"),)))
    assert root.get("failures") == "0"
    assert find(root, ".//system-out").text == "soft: tone failed: seen"


def test_under_strict_a_soft_failure_is_the_failure() -> None:
    """A case that failed only by soft assertions says so in its failure, and only there."""
    root = parsed(case("a", run(), status="failed", assertions=(failing("tone", kind="soft"),)))
    assert find(root, ".//failure").get("type") == "soft"
    assert root.find(".//system-out") is None


@pytest.mark.parametrize("status", ["failed", "error", "skipped"])
def test_a_status_without_a_reason_is_shown_all_the_same(status: str) -> None:
    """A result without a reason for its status still has an element with a message."""
    (outcome,) = (found for found in find(parsed(case("a", status=status)), ".//testcase") if found.tag != "properties")
    assert outcome.get("message")


def test_nothing_known_is_no_attribute() -> None:
    """A case without a file has no `file`, and its suite still has a name."""
    root = parsed(case("a", run(), suite="", file=""))
    assert find(root, "testsuite").get("name") == "remote-evals"
    assert find(root, ".//testcase").get("file") is None


def test_illegal_characters_are_visible() -> None:
    """Characters that XML forbids are written as escapes; line breaks and tabs stay."""
    root = parsed(case("\x00\x1b\ud83d\ufffe\uffff\x85\tok\nok", run()))
    assert find(root, ".//testcase").get("name") == r"\x00\x1b\ud83d\ufffe\uffff\x85" + "\tok\nok"


def test_an_agent_cannot_attach_files() -> None:
    """The mark that makes Jenkins and GitLab attach a file never comes from an agent."""
    asserted = (failing("[[ATTACHMENT|/etc/passwd]]", kind="soft"),)
    assert "[[ATTACHMENT|" not in render_junit(report(case("a", run(), assertions=asserted)))


def properties(root: Element) -> dict[str | None, str | None]:
    return {found.get("name"): found.get("value") for found in find(root, ".//testcase/properties")}


def test_a_repeated_case_is_one_testcase() -> None:
    """The runs of a case are one testcase, with their total time, their counts and the failed runs."""
    root = parsed(*repeated("flow", "passed", "failed", "failed", pass_at=2))
    (element,) = root.iter("testcase")
    assert (element.get("name"), element.get("time"), root.get("tests"), root.get("failures")) == (
        *("flow", "5.700"),
        *("1", "1"),
    )
    failure = find(root, ".//failure")
    assert str(failure.get("message")).startswith("1/3 runs passed, 2 needed; flow #2: output_contains('EUR') failed")
    for name in ("flow #2", "flow #3"):
        assert f"{name}:\noutput_contains('EUR') failed: the reply was" in str(failure.text)
    assert "trace 4bf92f3577b34da6a3ce929d0e0e4736" in str(failure.text)
    assert "flow #1" not in str(failure.text)
    expected = {"runs": "3", "passed_runs": "1", "pass_at": "2", "flaky": "true"}
    assert expected.items() <= properties(root).items()


def test_a_flaky_case_that_passed_shows_the_runs_that_failed() -> None:
    """A case that passed in enough of its runs fails nothing, and its output shows the failed runs."""
    root = parsed(*repeated("flow", "passed", "failed", pass_at=1))
    assert root.find(".//failure") is None
    output = str(find(root, ".//system-out").text)
    assert output.startswith("flaky: 1/2 runs passed, 1 needed\nflow #2:\noutput_contains('EUR') failed")


def test_a_case_that_always_passes_is_not_flaky() -> None:
    """Runs that all passed leave no output and no mark."""
    root = parsed(*repeated("flow", "passed", "passed"))
    assert "flaky" not in properties(root)
    assert root.find(".//system-out") is None


def test_remarks_name_their_run() -> None:
    """A soft failure in one of several runs names the run."""
    root = parsed(*repeated("flow", "passed", "passed", assertions=(failing("tone", kind="soft"),)))
    assert str(find(root, ".//system-out").text).splitlines() == [
        "flow #1: soft: tone failed: seen",
        "flow #2: soft: tone failed: seen",
    ]


def test_runs_that_broke_are_one_error() -> None:
    """A case that broke in every run is one error, whose message names the first run."""
    error = find(parsed(*repeated("flow", "error", "error", error=ERROR, assertions=())), ".//error")
    assert error.get("message") == "0/2 runs passed, 2 needed; flow #1: the stream broke"
