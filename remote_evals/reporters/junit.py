"""The report as JUnit XML, in the dialect that GitHub's actions, GitLab, Jenkins and CircleCI read.

These readers differ, so the file is written for all of them:

- A case has at most one `failure` or `error`: all readers show only the first, and Jenkins prefers an error.
- The text of that element has everything (GitLab drops `message` if there is text), and its `message` has the gist
  (annotations show only that). A `skipped` repeats its reason as text.
- No reader turns red for a skip, so a case that was kept from running, or was cut off, is an `error` with that reason
  as its `type` (NOT_READY, TOKEN_REFUSED, MAX_TIME, INTERRUPTED): it could not be judged. Only what --fail-fast was
  asked to leave out is `skipped`; the case that did not pass is red already.
- `file` is on suite and case, `classname` is the suite, times are seconds, totals count the elements below.

A case is one `testcase` however often it ran: its time is the sum over its runs, its failure lists each run that
failed, and the properties `runs`, `passed_runs`, `pass_at` and `flaky` give the rest.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..core.text import escape_xml_chars
from ..results import CaseResult, EvalReport, EvalResult, Status
from .evidence import (
    explain_result,
    get_decisive_run,
    get_error,
    is_fail_fast,
    list_soft_failures,
    list_warnings,
    needs_evidence,
)

_LONGEST_ARGS = 2_000
_UNNAMED = "remote-evals"
_Kind = Literal["failure", "error", "skipped"]
_KINDS: dict[Status, _Kind] = {"failed": "failure", "error": "error"}


def render_junit(report: EvalReport) -> str:
    """Return the report as JUnit XML that is well-formed, whatever the agent sent."""
    root = _build_element(
        "testsuites", name=_UNNAMED, **_count_outcomes(report.cases), time=_render_seconds(report.duration_ms)
    )
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in report.cases:
        groups.setdefault((case.runs[0].suite, case.runs[0].file), []).append(case)
    root.extend(_build_suite(cases, report) for cases in groups.values())
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode() + "\n"


def _build_suite(cases: Sequence[CaseResult], report: EvalReport) -> Element:
    first = cases[0].runs[0]
    suite = _build_element(
        "testsuite",
        name=_get_suite_name(first),
        file=first.file,
        **_count_outcomes(cases),
        time=_render_seconds(sum(_sum_ms(case) for case in cases)),
        timestamp=report.started_at,
    )
    _add_properties(suite, [("target", first.target or report.target), ("tool_version", report.tool_version)])
    suite.extend(_build_case(case) for case in cases)
    return suite


def _build_case(case: CaseResult) -> Element:
    first = case.runs[0]
    element = _build_element(
        "testcase",
        # A case that is not repeated has the name of its run.
        name=first.name if len(case.runs) == 1 else case.name,
        classname=_get_suite_name(first),
        file=first.file,
        time=_render_seconds(_sum_ms(case)),
    )
    _add_properties(element, _list_properties(case))
    element.extend(_build_outcome(case))
    if notes := [*_list_repeat_notes(case), *(note for run in case.runs for note in _list_run_notes(run, case))]:
        SubElement(element, "system-out").text = escape_xml_chars("\n".join(notes))
    return element


def _build_outcome(case: CaseResult) -> Iterable[Element]:
    run = get_decisive_run(case)
    gist = "" if len(case.runs) == 1 else f"{_describe_rate(case)}; {run.name}: "
    error = get_error(run)
    match _get_kind(case):
        case "failure":
            reasons = [failed.message or failed.name for failed in run.failures] or ["the case failed"]
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            kind = run.failures[0].kind if run.failures else "gate"
            yield _build_element("failure", _explain_case(case), type=kind, message=gist + reasons[0] + more)
        case "error":
            yield _build_element("error", _explain_case(case), type=error.code, message=gist + error.message)
        case "skipped":
            yield _build_element("skipped", gist + error.message, message=gist + error.message)


def _get_kind(case: CaseResult) -> _Kind | None:
    if case.status == "skipped":
        return "skipped" if is_fail_fast(get_error(get_decisive_run(case))) else "error"
    return _KINDS.get(case.status)


def _explain_case(case: CaseResult) -> str:
    if len(case.runs) == 1:
        return explain_result(case.runs[0], _LONGEST_ARGS)
    return "\n\n".join([_describe_rate(case), *_explain_runs(case)])


def _explain_runs(case: CaseResult) -> list[str]:
    shown = [run for run in case.runs if needs_evidence(run)] or [get_decisive_run(case)]
    return [f"{run.name}:\n{explain_result(run, _LONGEST_ARGS)}" for run in shown if not run.passed]


def _describe_rate(case: CaseResult) -> str:
    return f"{case.rate} runs passed, {case.needed} needed"


def _list_repeat_notes(case: CaseResult) -> Iterable[str]:
    if case.is_flaky:
        yield f"flaky: {_describe_rate(case)}"
    if case.status == "passed":
        yield from _explain_runs(case)


def _list_run_notes(run: EvalResult, case: CaseResult) -> list[str]:
    notes = [f"soft: {text}" for text in list_soft_failures(run)]
    notes += [f"warning: {text}" for text in list_warnings(run)]
    return notes if len(case.runs) == 1 else [f"{run.name}: {note}" for note in notes]


def _list_properties(case: CaseResult) -> list[tuple[str, str]]:
    first = case.runs[0]
    found = [("tag", tag) for tag in first.tags]
    found += [(f"metadata.{key}", value) for key, value in first.metadata.items() if isinstance(value, str)]
    if len(case.runs) > 1:
        counts = {"runs": len(case.runs), "passed_runs": case.passed_runs, "pass_at": case.needed}
        found += [(name, str(count)) for name, count in counts.items()]
        found += [("flaky", "true")] if case.is_flaky else []
    for run in case.runs:
        found += [("session_id", run.session_id)] if run.session_id else []
        found += [("trace_id", turn.trace_id) for turn in run.turns if turn.trace_id]
    return found


def _add_properties(parent: Element, pairs: Sequence[tuple[str, str]]) -> None:
    if pairs:
        SubElement(parent, "properties").extend(
            _build_element("property", name=name, value=value) for name, value in pairs
        )


def _count_outcomes(cases: Sequence[CaseResult]) -> dict[str, str]:
    counts = Counter(map(_get_kind, cases))
    names: dict[str, _Kind] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(cases)), **{name: str(counts[kind]) for name, kind in names.items()}}


def _build_element(tag: str, text: str | None = None, /, **attributes: str) -> Element:
    # An unknown value has no attribute: CircleCI reads an empty `file` as a file without a name.
    element = Element(tag, {name: escape_xml_chars(value) for name, value in attributes.items() if value})
    element.text = None if text is None else escape_xml_chars(text)
    return element


def _get_suite_name(result: EvalResult) -> str:
    return result.suite or result.file or _UNNAMED


def _sum_ms(case: CaseResult) -> float:
    return sum(run.duration_ms for run in case.runs)


def _render_seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
