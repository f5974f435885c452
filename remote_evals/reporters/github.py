"""What GitHub Actions is told on standard output: annotations of a run, and a fence around what others wrote."""

import re
from collections.abc import Iterator

from ..results import CaseResult, EvalReport, EvalResult
from .evidence import Skip, cut, is_asked_for, list_oddities, list_skips, list_soft_failures
from .markdown import escape_data, escape_property

_LONGEST_MESSAGE = 2_000
_LONGEST_TITLE = 200
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")


def render_annotations(report: EvalReport, limit: int = 10) -> str:
    """Return workflow commands: errors, and then warnings.

    An error stands for each reason why cases were skipped, with their number, unless --fail-fast asked for that: the
    case that did not pass has an error of its own, as each has that failed or could not be judged. A warning stands for
    a case that is flaky or failed softly, though it passed. No more than `limit` of them all, of which GitHub shows ten
    a step, and a notice that says how many there would be more; empty when there is none.
    """
    skips = [_skip_command(skip) for skip in list_skips(report.cases) if not is_asked_for(skip.error)]
    errors = [_command("error", case, _list_failures(case)) for case in report.cases if _is_red(case)]
    warnings = [
        _command("warning", case, remarks)
        for case in report.cases
        if not _is_red(case) and (remarks := list(_list_remarks(case)))
    ]
    commands = [*skips, *errors, *warnings]
    shown, left_out = commands[: max(0, limit)], len(commands[max(0, limit) :])
    if left_out:
        cases = "1 more case has" if left_out == 1 else f"{left_out} more cases have"
        shown.append(f"::notice::{cases} an error or a warning; the summary shows all of them")
    return "".join(f"{command}\n" for command in shown)


def fence_commands(text: str, token: str) -> str:
    """Return the text between marks that make the runner obey no command in it.

    The token must be random, 16 or more letters, digits, `-` or `_`, so that the text cannot end the fence. Raises
    `ValueError` when it is not, or the text holds it.
    """
    if not _TOKEN.fullmatch(token):
        raise ValueError("the token must be 16 or more letters, digits, - or _")
    if token.lower() in text.lower():
        raise ValueError("the text holds the token; draw another")
    end = "" if text.endswith("\n") or not text else "\n"
    return f"::stop-commands::{token}\n{text}{end}::{token}::\n"


def _is_red(case: CaseResult) -> bool:
    return case.status in ("failed", "error")


def _skip_command(skip: Skip) -> str:
    reason = escape_data(cut(f"{skip.error.code}: {skip.error.message}", _LONGEST_MESSAGE))
    return f"::error title={escape_property(str(skip))}::{reason}"


def _command(kind: str, case: CaseResult, lines: list[str]) -> str:
    rate = "" if len(case.runs) == 1 else f" {case.rate}{' flaky' if case.is_flaky else ''}"
    title = cut(case.name, _LONGEST_TITLE) + rate
    properties = {"file": case.runs[0].file, "title": title}
    escaped = {name: escape_property(value) for name, value in properties.items()}
    given = ",".join(f"{name}={value}" for name, value in escaped.items() if value)
    return f"::{kind} {given}::{escape_data(cut(chr(10).join(lines), _LONGEST_MESSAGE))}"


def _list_failures(case: CaseResult) -> list[str]:
    lines = [line for run in case.runs for line in _name_lines(_list_reasons(run), run, case)]
    return lines or ["the case did not pass"]


def _list_reasons(run: EvalResult) -> list[str]:
    if run.status not in ("failed", "error"):
        return []
    reasons = [failed.message or failed.name for failed in run.failures]
    return reasons + ([f"{run.error.code}: {run.error.message}"] if run.error else [])


def _list_remarks(case: CaseResult) -> Iterator[str]:
    if case.is_flaky:
        yield f"flaky: {case.rate} runs passed, {case.needed} needed"
    for run in case.runs:
        yield from _name_lines(_list_reasons(run), run, case)
        yield from _name_lines([f"soft: {text}" for text in list_soft_failures(run)], run, case)
        yield from _name_lines(list_oddities(run), run, case)


def _name_lines(lines: list[str], run: EvalResult, case: CaseResult) -> list[str]:
    return lines if len(case.runs) == 1 else [f"{run.name}: {line}" for line in lines]
