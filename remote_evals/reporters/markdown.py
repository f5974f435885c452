"""The report as Markdown, for a pull request or the step summary of GitHub Actions.

Text from agents and suites is untrusted. In the table it is escaped, so that no name becomes a link, a mention or a
column; in details it is in a fence longer than any fence within it. Why cases were skipped is at the top, each reason
once: such a run is red, whatever the other cases did.
"""

import re
from collections.abc import Iterable, Sequence

from ..core.text import escape_control_chars, escape_xml_chars
from ..results import CaseResult, EvalReport, Status
from .evidence import (
    Skip,
    explain_result,
    list_protocol_warnings,
    list_skipped_checks,
    list_skips,
    list_soft_failures,
    needs_evidence,
    truncate,
    was_under_way,
)
from .totals import render_counts, render_score, render_time, render_usage

# GitHub drops a step summary that is longer.
_MOST_BYTES = 1024 * 1024
_LEAST_BYTES = 8_000
_BYTES_FOR_REMARKS = 400
_LONGEST_NAME = 200
_LONGEST_LINE = 200
_LONGEST_REASON = 1_000
_LONGEST_ARGS = 500
_LONGEST_DETAILS = 20_000

_STATUSES: dict[Status, str] = {
    "passed": "✅ passed",
    "failed": "❌ failed",
    "error": "💥 error",
    "skipped": "⏭️ skipped",
}
_TABLE_HEAD = "| status | case | score | duration | tokens | cost |\n| :-- | :-- | --: | --: | --: | --: |\n"

_BACKTICKS = re.compile("`+")
# What Markdown or GitHub's own filters act on: links, mentions, issues, emphasis, code, tables, HTML, math, emoji.
_ACTIVE = re.compile(r"[&<>|`*_\[\]()\\~#@:$]|(?<=www)\.", re.IGNORECASE)


def render_markdown(report: EvalReport, limit: int = _MOST_BYTES) -> str:
    """Return the report as Markdown of at most `limit` bytes; a remark says what was left out.

    A limit below 8,000 counts as 8,000. Cases that did not pass are the last to be left out.
    """
    head = _render_head(report)
    cases = report.cases
    if not cases:
        return head
    room = max(limit, _LEAST_BYTES) - _count_bytes(head) - _count_bytes(_TABLE_HEAD) - _BYTES_FOR_REMARKS
    reasons = [_render_skip(skip) for skip in list_skips(cases)]
    shown_reasons = _fit(reasons, room // 2)
    room -= sum(map(_count_bytes, shown_reasons))
    details = [_render_details(case) for case in cases if any(map(needs_evidence, case.runs))]
    # The table gets what the details do not need, and at least half of the room.
    rows = _fit_rows(cases, max(room // 2, room - sum(map(_count_bytes, details))))
    shown_details = _fit(details, room - sum(map(_count_bytes, rows)))
    remarks = [
        *_render_remark(len(reasons) - len(shown_reasons), "reason", "reasons"),
        *_render_remark(len(cases) - len(rows), "row", "rows"),
        *_render_remark(len(details) - len(shown_details), "case's details", "cases' details"),
    ]
    gap = ["\n"] if shown_reasons else []
    return "".join([head, *shown_reasons, *gap, _TABLE_HEAD, *rows, *shown_details, *remarks])


def _render_head(report: EvalReport) -> str:
    interrupted = " · interrupted" if report.interrupted else ""
    target = f"{_render_code(report.target, _LONGEST_LINE)} · " if report.target else ""
    usage = " · ".join(filter(None, [f"remote-evals {report.tool_version}", render_usage(report)]))
    title = f"### {_get_sign(report)} {render_counts(report)}{interrupted}"
    return f"{title}\n\n{target}{_escape_cell(usage, _LONGEST_LINE)}\n\n"


def _get_sign(report: EvalReport) -> str:
    if {case.status for case in report.cases} != {"passed"} or report.interrupted:
        return "❌"
    return "⚠️" if report.soft_failed or any(case.is_flaky for case in report.cases) else "✅"


def _render_skip(skip: Skip) -> str:
    return f"- {skip}: {_escape_cell(f'{skip.error.code}: {skip.error.message}', _LONGEST_REASON)}\n"


def _render_row(case: CaseResult) -> str:
    rate = "" if len(case.runs) == 1 else f" {case.rate}"
    remarks = ["flaky"] if case.is_flaky else []
    remarks += ["under way"] if any(map(was_under_way, case.runs)) else []
    remarks += ["soft failures"] if any(map(list_soft_failures, case.runs)) else []
    remarks += ["protocol warnings"] if any(map(list_protocol_warnings, case.runs)) else []
    remarks += ["case warnings"] if any(run.case_warnings for run in case.runs) else []
    remarks += ["not all checked"] if any(map(list_skipped_checks, case.runs)) else []
    cells = [
        ", ".join([_STATUSES[case.status] + rate, *remarks]),
        _render_code(case.name, _LONGEST_NAME),
        render_score(case),
        render_time(case),
        _render_tokens(case),
        _render_cost(case),
    ]
    return f"| {' | '.join(cell or '–' for cell in cells)} |\n"  # noqa: RUF001 - a dash for nothing


def _render_tokens(case: CaseResult) -> str:
    known = [run.run.usage.total_tokens for run in case.runs if run.run.usage]
    return f"{sum(known):,}" if known else ""


def _render_cost(case: CaseResult) -> str:
    usages = [run.run.usage for run in case.runs if run.run.usage]
    known = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return f"&#36;{sum(known):.4f}" if known else ""


def _render_details(case: CaseResult) -> str:
    runs = list(filter(needs_evidence, case.runs))
    suite = f" · {_render_code(case.runs[0].suite, _LONGEST_NAME)}" if case.runs[0].suite else ""
    title = f"{_STATUSES[case.status]}: {_render_code(case.name, _LONGEST_NAME)}{suite}"
    if len(case.runs) == 1:
        body = explain_result(runs[0], _LONGEST_ARGS)
    else:
        title += f" · {case.rate} runs passed, {case.needed} needed"
        body = "\n\n".join(f"{run.name}:\n{explain_result(run, _LONGEST_ARGS)}" for run in runs)
    return f"\n<details><summary>{title}</summary>\n\n{_fence(body, _LONGEST_DETAILS)}\n\n</details>\n"


def _render_remark(left_out: int, one: str, more: str) -> list[str]:
    words = f"{left_out} {one if left_out == 1 else more}"
    return [f"\n*{words} left out: the report would be too long.*\n"] if left_out else []


def _fit_rows(cases: Sequence[CaseResult], room: int) -> list[str]:
    """Return the rows that fit, in order; rows of cases that passed are left out first."""
    rows = [_render_row(case) for case in cases]
    order = sorted(range(len(cases)), key=lambda index: cases[index].status == "passed")
    kept = len(_fit((rows[index] for index in order), room))
    return [rows[index] for index in sorted(order[:kept])]


def _fit(parts: Iterable[str], room: int) -> list[str]:
    """Return the first parts that together have at most `room` bytes."""
    shown = []
    for part in parts:
        room -= _count_bytes(part)
        if room < 0:
            break
        shown.append(part)
    return shown


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))


def _escape_cell(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters, as one line for a table or a heading in which nothing is active."""
    # GitHub looks for mentions after it has decoded the entities; a zero-width character breaks them up.
    return _ACTIVE.sub(_as_entity, truncate(escape_control_chars(text), limit)).replace("&#64;", "&#64;&#8203;")


def _as_entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def _render_code(text: str, limit: int) -> str:
    """Return the text as code, which GitHub's filters for mentions and issues skip."""
    return f"<code>{_escape_cell(text, limit)}</code>"


def _fence(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters, as a block that nothing in it can end."""
    body = truncate(escape_xml_chars(text), limit)
    longest = max((len(found) for found in _BACKTICKS.findall(body)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}text\n{body}\n{marks}"
