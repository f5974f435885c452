"""The Markdown report: short, and no text of an agent or a suite is active in it."""

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from remote_evals.reporters import render_markdown
from remote_evals.results import EvalReport, EvalResult
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

HOSTILE = "a|b `c` *d* [e](http://f) <b>g</b> @owner #7 www.evil.example ![i](j)\n| k | \\| ~~l~~ $x$ :m: </code>"


def shown(*results: EvalResult, **limit: int) -> list[str]:
    return render_markdown(report(*results), **limit).splitlines()


def tags(text: str) -> set[str]:
    """Return the names of the HTML elements that the Markdown renders to."""
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    return set(re.findall(r"<([a-z0-9]+)", html))


def test_the_whole_report_is_as_stored() -> None:
    """The Markdown of the rich report equals the stored one, byte for byte."""
    assert_snapshot("report.md", render_markdown(rich_report()))


@pytest.mark.parametrize(
    ("one", "sign"),
    [
        (report(case("a", run())), "✅ 1/1 passed"),
        (report(*repeated("a", "passed", "failed", pass_at=1)), "⚠️ 1/1 passed (100%) · 1/2 runs, 1 flaky"),
        (report(case("a", run()), case("b", status="skipped")), "❌ 1/2 passed"),
        (report(case("a", run()), case("b", status="error")), "❌ 1/2 passed"),
        (report(case("a", run()), interrupted=True), "❌ 1/1 passed (100%) · interrupted"),
        (report(case("a", status="skipped")), "❌ 0/1 passed"),
        (report(), "❌ no cases ran"),
    ],
)
def test_the_first_line_is_the_verdict(one: EvalReport, sign: str) -> None:
    """The first line says whether all is well, and a run without cases is not."""
    assert render_markdown(one).startswith(f"### {sign}")


def test_a_reason_to_skip_stands_once_at_the_top() -> None:
    """Below the verdict is each reason why cases were skipped, once, with their number."""
    refused = [skipped(f"a{index}", code="TOKEN_REFUSED", message="refused <b>") for index in range(99)]
    text = shown(*refused, skipped("b", under_way()), skipped("c"))
    assert text[4:7] == [
        "- 99 cases skipped: TOKEN&#95;REFUSED&#58; refused &#60;b&#62;",
        "- 2 cases skipped, 1 under way: INTERRUPTED&#58; not done when the run was interrupted",
        "",
    ]
    assert text[7].startswith("| status |")


def test_reasons_that_do_not_fit_are_counted() -> None:
    """Reasons that do not fit are left out, and a remark says how many."""
    text = shown(*(skipped(str(index), message=f"{index}{'x' * 900}") for index in range(50)), limit=20_000)
    listed = sum(line.startswith("- 1 case skipped: ") for line in text)
    assert f"*{50 - listed} reasons left out: the report would be too long.*" in text


def test_a_case_that_was_cut_off_has_details() -> None:
    """A case that was cut off under way is marked so, and what it had done stands in details."""
    text = "\n".join(shown(skipped("a", under_way())))
    assert "| ⏭️ skipped, under way | <code>a</code> |" in text
    details = text.partition("<details><summary>⏭️ skipped: <code>a</code>")[2]
    assert 'tools so far: issue_refund({"orderId": "41"}) -> not finished' in details


def test_a_case_is_a_row() -> None:
    """A row shows how a case ended, its score, time, tokens and dollars."""
    assert shown(case("a", run()))[-1] == "| ✅ passed | <code>a</code> | 1.00 | 1.9s | 800 | &#36;0.0031 |"
    unknown = shown(case("a", status="skipped"))[-1]
    assert unknown == "| ⏭️ skipped | <code>a</code> | \u2013 | \u2013 | \u2013 | \u2013 |"


def test_a_name_does_nothing_in_a_table() -> None:
    """A name with everything that Markdown and GitHub act on is one cell that shows it unchanged."""
    row = shown(case(HOSTILE, run(), suite=""))[-1]
    assert row.count("|") == 7
    name = unescape(row.split("|")[2].strip().removeprefix("<code>").removesuffix("</code>"))
    assert name.replace("@\u200b", "@") == HOSTILE.replace("\n", r"\n")
    assert not re.search(r"@\w|(?<!&)#\d|https?:|www\.", row)


def test_what_an_agent_says_stays_in_its_fence() -> None:
    """A reply with fences of its own is in a longer fence, and closes no details."""
    one = case("a", run(reply="```\n</details>\n`````\n@owner <script>"), status="failed")
    text = render_markdown(report(one))
    assert text.count("``````") == 2
    assert "script" not in tags(text)


def test_failed_runs_stand_in_details() -> None:
    """Below the table, each case with a failed run shows those runs by name, and none that passed."""
    text = render_markdown(report(case("fine", run()), *repeated("flow", "failed", "passed")))
    assert "<details><summary>❌ failed: <code>flow</code>" in text
    assert "flow #1:\noutput_contains('EUR') failed" in text
    assert "flow #2" not in text
    assert text.count("<details>") == 1


def test_a_long_report_is_cut() -> None:
    """A report fits GitHub's limit, keeps failed cases before passed ones, and says what it lacks."""
    results = [case(f"good {index} {'x' * 150}", run()) for index in range(6000)]
    results += [case(f"bad {index}", run(reply="日" * 30_000), status="failed") for index in range(200)]
    text = render_markdown(report(*results))
    assert 900_000 < len(text.encode()) <= 1024 * 1024
    assert all(f"| <code>bad {index}</code> |" in text for index in range(200))
    assert re.findall(r"\*\d+ (.*) left out: the report would be too long\.\*", text) == ["rows", "cases' details"]
    assert text.count("<details>") == text.count("</details>")


@settings(deadline=None)
@given(st.lists(st.text(st.characters()), min_size=6, max_size=6), st.integers(0, 20_000))
def test_any_text_fits_and_does_nothing(texts: list[str], limit: int) -> None:
    """With any text, the report is UTF-8, fits its limit, and has only the usual elements."""
    name, suite, reply, target, message, version = texts
    bad = repeated(name, "failed", "error", "passed", suite=suite, run=run(reply=reply * 9), turns=())
    kept = [skipped(name, code=reply, message=text * 50) for text in (message, suite)]
    one = report(case(message, run(reply=message), status="failed"), *bad, *kept, target=target, tool_version=version)
    text = render_markdown(one, limit)
    assert len(text.encode()) <= max(limit, 8_000)
    usual = {"h3", "p", "code", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre", "em"}
    usual |= {"ul", "li"}
    assert tags(text) <= usual
