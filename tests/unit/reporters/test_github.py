"""Annotations for GitHub's runner: they say what is meant, and no text of an agent becomes a command."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remote_evals.reporters import render_annotations
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

SOFT = AssertionResult(name="tone", kind="soft", passed=False, score=0, message="tone failed: curt")


def commands(*results: EvalResult, limit: int = 10) -> list[str]:
    return render_annotations(report(*results), limit).splitlines()


def test_all_annotations_are_as_stored() -> None:
    """The annotations of the rich report equal the stored ones, byte for byte."""
    assert_snapshot("annotations.txt", render_annotations(rich_report()))


def test_a_case_that_passed_is_no_annotation() -> None:
    """A case that passed, or that --fail-fast skipped, has no annotation."""
    assert render_annotations(report(case("a", run()), skipped("b", code="FAILED_FAST"))) == ""


def test_a_reason_to_skip_is_one_annotation() -> None:
    """Each reason why cases were skipped is one error with their number, before the errors of cases."""
    refused = [skipped(f"a{index}", code="TOKEN_REFUSED", message="refused: 100%") for index in range(99)]
    assert commands(case("c", status="failed"), *refused, skipped("b"), skipped("d", under_way())) == [
        "::error title=99 cases skipped::TOKEN_REFUSED: refused: 100%25",
        "::error title=2 cases skipped%2C 1 under way::INTERRUPTED: not done when the run was interrupted",
        "::error file=evals/orders.eval.yaml,title=c::the case did not pass",
    ]


def test_errors_come_before_warnings() -> None:
    """A failed or broken case is an error; a flaky or softly failed case that passed is a later warning."""
    broken = case("b", status="error", error=CaseError(code="X", message="why"), file="")
    flaky = repeated("flow", "passed", "failed", pass_at=1)
    assert commands(case("a", run(), assertions=(SOFT,)), *flaky, broken, case("c", status="failed")) == [
        "::error title=b::X: why",
        "::error file=evals/orders.eval.yaml,title=c::the case did not pass",
        "::warning file=evals/orders.eval.yaml,title=a::soft: tone failed: curt",
        "::warning file=evals/orders.eval.yaml,title=flow 1/2 flaky::flaky: 1/2 runs passed, 1 needed"
        "%0Aflow #2: output_contains('EUR') failed: the reply was ```12 $```",
    ]


def test_commands_are_escaped() -> None:
    """Percent signs and line breaks are escaped, and in properties also colons and commas."""
    why = CaseError(code="X", message="50%, a:b\r\n::warning::no\x1b")
    assert commands(case("50%, a:b\r\nc", status="error", error=why, file="a:b,c.yaml")) == [
        r"::error file=a%3Ab%2Cc.yaml,title=50%25%2C a%3Ab%0Ac::X: 50%25, a:b%0A::warning::no\x1b"
    ]


@pytest.mark.parametrize(
    ("limit", "more"), [(2, "2 more cases have"), (3, "1 more case has"), (0, "4 more cases have")]
)
def test_annotations_are_capped(limit: int, more: str) -> None:
    """At most `limit` annotations are returned, and a notice says how many were left out."""
    *shown, last = commands(*(case(f"a{index}", status="failed") for index in range(4)), limit=limit)
    assert len(shown) == limit
    assert last == f"::notice::{more} an error or a warning; the summary shows all of them"


def test_what_fits_needs_no_notice() -> None:
    """Annotations up to the limit are returned without a notice."""
    assert len(commands(*(case(f"a{index}", status="failed") for index in range(4)), limit=4)) == 4


def test_a_name_of_nothing_is_no_property() -> None:
    """A file name that is empty once escaped is left out, like no file name."""
    assert commands(case("a", status="failed", file="\r")) == ["::error title=a::the case did not pass"]


@given(st.lists(st.text(st.characters()), min_size=4, max_size=4))
def test_any_text_is_one_command(texts: list[str]) -> None:
    """Any text of a case makes one line of UTF-8 with only the intended properties."""
    name, file, code, message = texts
    text = render_annotations(
        report(case(name, status="error", error=CaseError(code=code, message=message), file=file))
    )
    text.encode()
    assert re.fullmatch(r"::error (file=[^:,]+,)?title=[^:,]*::[^\r\n]+\n|::error (file=[^:,]+)?::[^\r\n]+\n", text)
    assert len(text.splitlines()) == 1
