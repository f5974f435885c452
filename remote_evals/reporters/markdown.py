"""Text of others made harmless for GitHub: in a table of Markdown, in a fenced block, in a workflow command."""

import re
from collections.abc import Iterable, Sequence

from ..core.text import escape_control_chars, escape_xml_chars
from ..results import CaseResult, EvalReport, Status
from .evidence import (
    Skip,
    cut,
    explain,
    is_under_way,
    list_oddities,
    list_skips,
    list_soft_failures,
    list_unchecked,
    needs_evidence,
)
from .totals import count_cases, render_score, render_time, render_usage

_BACKTICKS = re.compile("`+")
# Whatever Markdown or GitHub's own filters act on: links, mentions, issues, emphasis, code, tables, HTML, math, emoji.
_ACTIVE = re.compile(r"[&<>|`*_\[\]()\\~#@:$]|(?<=www)\.", re.IGNORECASE)


def escape_cell(text: str, limit: int) -> str:
    """Return one line for a table or a heading that shows as the text, cut to `limit` characters, and does nothing."""
    # A mention is looked for in what Markdown made of the entities; a character of no width breaks it apart.
    return _ACTIVE.sub(_to_entity, cut(escape_control_chars(text), limit)).replace("&#64;", "&#64;&#8203;")


def code_cell(text: str, limit: int) -> str:
    """Return the text as code; GitHub's filters for mentions and issues pass over that."""
    return f"<code>{escape_cell(text, limit)}</code>"


def fence(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters, as a block that nothing in it ends."""
    body = cut(escape_xml_chars(text), limit)
    longest = max((len(found) for found in _BACKTICKS.findall(body)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}text\n{body}\n{marks}"


def escape_data(text: str) -> str:
    """Return the message of a workflow command; line breaks stay line breaks."""
    shown = "\n".join(escape_control_chars(line.removesuffix("\r")) for line in text.split("\n"))
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Return the value of a property of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _to_entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


# GitHub drops the whole summary of a step that is longer.
_MOST_BYTES = 1024 * 1024
_LEAST_BYTES = 8_000
_ROOM_FOR_REMARKS = 400
_LONGEST_NAME = 200
_LONGEST_LINE = 200
_LONGEST_REASON = 1_000
_LONGEST_ARGS = 500
_LONGEST_DETAILS = 20_000
_WORDS: dict[Status, str] = {"passed": "✅ passed", "failed": "❌ failed", "error": "💥 error", "skipped": "⏭️ skipped"}
_HEAD = "| status | case | score | duration | tokens | cost |\n| :-- | :-- | --: | --: | --: | --: |\n"


def render_markdown(report: EvalReport, limit: int = _MOST_BYTES) -> str:
    """Return the report as Markdown of at most `limit` bytes; a remark says what had to be left out.

    A limit below 8,000 is taken for 8,000. Cases that did not pass are the last to be left out.
    """
    head = _verdict(report)
    cases = report.cases
    if not cases:
        return head
    room = max(limit, _LEAST_BYTES) - _size(head) - _size(_HEAD) - _ROOM_FOR_REMARKS
    reasons = [_reason(skip) for skip in list_skips(cases)]
    told = _fit(reasons, room // 2)
    room -= sum(map(_size, told))
    details = [_details(case) for case in cases if any(map(needs_evidence, case.runs))]
    # The table has what the details do not need, and half of it all at the least.
    rows = _fit_rows(cases, max(room // 2, room - sum(map(_size, details))))
    shown = _fit(details, room - sum(map(_size, rows)))
    remarks = [
        *_remark(len(reasons) - len(told), "reason", "reasons"),
        *_remark(len(cases) - len(rows), "row", "rows"),
        *_remark(len(details) - len(shown), "case's details", "cases' details"),
    ]
    return "".join([head, *told, *(["\n"] if told else []), _HEAD, *rows, *shown, *remarks])


def _verdict(report: EvalReport) -> str:
    interrupted = " · interrupted" if report.interrupted else ""
    target = f"{code_cell(report.target, _LONGEST_LINE)} · " if report.target else ""
    usage = " · ".join(filter(None, [f"remote-evals {report.tool_version}", render_usage(report)]))
    return f"### {_sign(report)} {count_cases(report)}{interrupted}\n\n{target}{escape_cell(usage, _LONGEST_LINE)}\n\n"


def _sign(report: EvalReport) -> str:
    if {case.status for case in report.cases} != {"passed"} or report.interrupted:
        return "❌"
    return "⚠️" if report.soft_failed or any(case.is_flaky for case in report.cases) else "✅"


def _reason(skip: Skip) -> str:
    return f"- {skip}: {escape_cell(f'{skip.error.code}: {skip.error.message}', _LONGEST_REASON)}\n"


def _row(case: CaseResult) -> str:
    rate = "" if len(case.runs) == 1 else f" {case.rate}"
    remarks = ["flaky"] if case.is_flaky else []
    remarks += ["under way"] if any(map(is_under_way, case.runs)) else []
    remarks += ["soft failures"] if any(map(list_soft_failures, case.runs)) else []
    remarks += ["protocol warnings"] if any(map(list_oddities, case.runs)) else []
    remarks += ["not all checked"] if any(map(list_unchecked, case.runs)) else []
    cells = [
        ", ".join([_WORDS[case.status] + rate, *remarks]),
        code_cell(case.name, _LONGEST_NAME),
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


def _details(case: CaseResult) -> str:
    runs = list(filter(needs_evidence, case.runs))
    suite = f" · {code_cell(case.runs[0].suite, _LONGEST_NAME)}" if case.runs[0].suite else ""
    title = f"{_WORDS[case.status]}: {code_cell(case.name, _LONGEST_NAME)}{suite}"
    if len(case.runs) == 1:
        body = explain(runs[0], _LONGEST_ARGS)
    else:
        title += f" · {case.rate} runs passed, {case.needed} needed"
        body = "\n\n".join(f"{run.name}:\n{explain(run, _LONGEST_ARGS)}" for run in runs)
    return f"\n<details><summary>{title}</summary>\n\n{fence(body, _LONGEST_DETAILS)}\n\n</details>\n"


def _fit_rows(cases: Sequence[CaseResult], room: int) -> list[str]:
    """Return the rows that fit, in order; those of cases that passed are left out first."""
    rows = [_row(case) for case in cases]
    order = sorted(range(len(cases)), key=lambda index: cases[index].status == "passed")
    kept = len(_fit((rows[index] for index in order), room))
    return [rows[index] for index in sorted(order[:kept])]


def _fit(parts: Iterable[str], room: int) -> list[str]:
    shown = []
    for part in parts:
        room -= _size(part)
        if room < 0:
            break
        shown.append(part)
    return shown


def _remark(left_out: int, one: str, more: str) -> list[str]:
    words = f"{left_out} {one if left_out == 1 else more}"
    return [f"\n*{words} left out: the report would be too long.*\n"] if left_out else []


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))
