"""What GitHub Actions reads on standard output: annotations of a run, and a fence around untrusted text."""

from collections.abc import Iterator

from ..core.text import escape_control_chars
from ..results import CaseResult, EvalReport, EvalResult
from .evidence import Skip, is_fail_fast, list_protocol_warnings, list_skips, list_soft_failures, truncate

_LONGEST_MESSAGE = 2_000
_LONGEST_TITLE = 200


def render_annotations(report: EvalReport, limit: int = 10) -> str:
    """Return workflow commands, errors before warnings; empty when there is nothing to annotate.

    Each reason why cases were skipped is one error with their number, except --fail-fast, which was requested. Each
    case that failed or could not be judged is one error. Each case that passed, but is flaky or has soft failures or
    protocol warnings, is one warning. At most `limit` annotations are returned, since GitHub shows ten for each step;
    a notice says how many were left out.
    """
    skips = [_render_skip(skip) for skip in list_skips(report.cases) if not is_fail_fast(skip.error)]
    errors = [_render_case("error", case, _list_failures(case)) for case in report.cases if _is_red(case)]
    warnings = [
        _render_case("warning", case, remarks)
        for case in report.cases
        if not _is_red(case) and (remarks := list(_list_remarks(case)))
    ]
    commands = [*skips, *errors, *warnings]
    shown, left_out = commands[: max(0, limit)], len(commands[max(0, limit) :])
    if left_out:
        cases = "1 more case has" if left_out == 1 else f"{left_out} more cases have"
        shown.append(f"::notice::{cases} an error or a warning; the summary shows all of them")
    return "".join(f"{command}\n" for command in shown)


def _is_red(case: CaseResult) -> bool:
    return case.status in ("failed", "error")


def _render_skip(skip: Skip) -> str:
    reason = _escape_data(truncate(f"{skip.error.code}: {skip.error.message}", _LONGEST_MESSAGE))
    return f"::error title={_escape_property(str(skip))}::{reason}"


def _render_case(kind: str, case: CaseResult, lines: list[str]) -> str:
    rate = "" if len(case.runs) == 1 else f" {case.rate}{' flaky' if case.is_flaky else ''}"
    title = truncate(case.name, _LONGEST_TITLE) + rate
    properties = {"file": case.runs[0].file, "title": title}
    escaped = {name: _escape_property(value) for name, value in properties.items()}
    given = ",".join(f"{name}={value}" for name, value in escaped.items() if value)
    return f"::{kind} {given}::{_escape_data(truncate(chr(10).join(lines), _LONGEST_MESSAGE))}"


def _list_failures(case: CaseResult) -> list[str]:
    lines = [line for run in case.runs for line in _prefix_run(_list_reasons(run), run, case)]
    return lines or ["the case did not pass"]


def _list_remarks(case: CaseResult) -> Iterator[str]:
    if case.is_flaky:
        yield f"flaky: {case.rate} runs passed, {case.needed} needed"
    for run in case.runs:
        yield from _prefix_run(_list_reasons(run), run, case)
        yield from _prefix_run([f"soft: {text}" for text in list_soft_failures(run)], run, case)
        yield from _prefix_run([*run.case_warnings, *list_protocol_warnings(run)], run, case)


def _list_reasons(run: EvalResult) -> list[str]:
    if run.status not in ("failed", "error"):
        return []
    reasons = [failed.message or failed.name for failed in run.failures]
    return reasons + ([f"{run.error.code}: {run.error.message}"] if run.error else [])


def _prefix_run(lines: list[str], run: EvalResult, case: CaseResult) -> list[str]:
    """Return the lines, each after the name of its run if the case has several."""
    return lines if len(case.runs) == 1 else [f"{run.name}: {line}" for line in lines]


def _escape_data(text: str) -> str:
    """Return the text as the message of a workflow command; line breaks stay line breaks."""
    shown = "\n".join(escape_control_chars(line.removesuffix("\r")) for line in text.split("\n"))
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    """Return the text as the value of a property of a workflow command."""
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
