"""The report as JUnit XML, in the dialect that GitHub's actions, GitLab, Jenkins and CircleCI read.

They differ, so: a case has at most one `failure` or `error` (all show only the first, Jenkins the error before the
failure); what matters stands in its text (GitLab drops `message` where there is text) and the gist in its `message`
too (annotations show that alone); a skip repeats its reason as text. None of them turns red for a skip, so a case that
was kept from running, or cut off, is an `error` with that reason as its `type` (NOT_READY, TOKEN_REFUSED, MAX_TIME,
INTERRUPTED): it could not be judged. Only what --fail-fast was asked to leave out is `skipped`; the case that did not
pass is red already. `file` stands on suite and case, `classname` is the suite, times are seconds, and totals are those
of what is below.

A case is one `testcase` however often it ran: its time is that of all runs, its failure lists each run that failed, and
the properties `runs`, `passed_runs`, `pass_at` and `flaky` say the rest.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..core.text import escape_xml_chars
from ..results import CaseResult, EvalReport, EvalResult, Status
from .evidence import error_of, explain, find_decisive, is_asked_for, list_soft_failures, list_warnings, needs_evidence

_LONGEST_ARGS = 2_000
_UNNAMED = "remote-evals"
_Kind = Literal["failure", "error", "skipped"]
_KINDS: dict[Status, _Kind] = {"failed": "failure", "error": "error"}


def render_junit(report: EvalReport) -> str:
    """Return the report as JUnit XML; whatever the agent sent, it is well-formed."""
    root = _element("testsuites", name=_UNNAMED, **_totals(report.cases), time=_seconds(report.duration_ms))
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in report.cases:
        groups.setdefault((case.runs[0].suite, case.runs[0].file), []).append(case)
    root.extend(_suite(cases, report) for cases in groups.values())
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode() + "\n"


def _suite(cases: Sequence[CaseResult], report: EvalReport) -> Element:
    first = cases[0].runs[0]
    suite = _element(
        "testsuite",
        name=_suite_name(first),
        file=first.file,
        **_totals(cases),
        time=_seconds(sum(_total_ms(case) for case in cases)),
        timestamp=report.started_at,
    )
    _add_properties(suite, [("target", first.target or report.target), ("tool_version", report.tool_version)])
    suite.extend(_case(case) for case in cases)
    return suite


def _case(case: CaseResult) -> Element:
    first = case.runs[0]
    element = _element(
        "testcase",
        # The one run of a case that is not repeated has a row of its own name.
        name=first.name if len(case.runs) == 1 else case.name,
        classname=_suite_name(first),
        file=first.file,
        time=_seconds(_total_ms(case)),
    )
    _add_properties(element, _properties(case))
    element.extend(_outcome(case))
    if notes := [*_note_repeats(case), *(note for run in case.runs for note in _note_run(run, case))]:
        SubElement(element, "system-out").text = escape_xml_chars("\n".join(notes))
    return element


def _outcome(case: CaseResult) -> Iterable[Element]:
    first = find_decisive(case)
    gist = "" if len(case.runs) == 1 else f"{_describe_rate(case)}; {first.name}: "
    error = error_of(first)
    match _kind(case):
        case "failure":
            reasons = [failed.message or failed.name for failed in first.failures] or ["the case failed"]
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            kind = first.failures[0].kind if first.failures else "gate"
            yield _element("failure", _explain(case), type=kind, message=gist + reasons[0] + more)
        case "error":
            yield _element("error", _explain(case), type=error.code, message=gist + error.message)
        case "skipped":
            yield _element("skipped", gist + error.message, message=gist + error.message)


def _kind(case: CaseResult) -> _Kind | None:
    if case.status == "skipped":
        return "skipped" if is_asked_for(error_of(find_decisive(case))) else "error"
    return _KINDS.get(case.status)


def _explain(case: CaseResult) -> str:
    if len(case.runs) == 1:
        return explain(case.runs[0], _LONGEST_ARGS)
    return "\n\n".join([_describe_rate(case), *_explain_runs(case)])


def _explain_runs(case: CaseResult) -> list[str]:
    told = [run for run in case.runs if needs_evidence(run)] or [find_decisive(case)]
    return [f"{run.name}:\n{explain(run, _LONGEST_ARGS)}" for run in told if not run.passed]


def _describe_rate(case: CaseResult) -> str:
    return f"{case.rate} runs passed, {case.needed} needed"


def _note_repeats(case: CaseResult) -> Iterable[str]:
    if case.is_flaky:
        yield f"flaky: {_describe_rate(case)}"
    if case.status == "passed":
        yield from _explain_runs(case)


def _note_run(run: EvalResult, case: CaseResult) -> list[str]:
    notes = [f"soft: {text}" for text in list_soft_failures(run)]
    notes += [f"warning: {text}" for text in list_warnings(run)]
    return notes if len(case.runs) == 1 else [f"{run.name}: {note}" for note in notes]


def _properties(case: CaseResult) -> list[tuple[str, str]]:
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
        SubElement(parent, "properties").extend(_element("property", name=name, value=value) for name, value in pairs)


def _totals(cases: Sequence[CaseResult]) -> dict[str, str]:
    counts = Counter(map(_kind, cases))
    names: dict[str, _Kind] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(cases)), **{name: str(counts[kind]) for name, kind in names.items()}}


def _element(tag: str, text: str | None = None, /, **attributes: str) -> Element:
    # What is not known has no attribute: CircleCI takes an empty `file` for a file without a name.
    element = Element(tag, {name: escape_xml_chars(value) for name, value in attributes.items() if value})
    element.text = None if text is None else escape_xml_chars(text)
    return element


def _suite_name(result: EvalResult) -> str:
    return result.suite or result.file or _UNNAMED


def _total_ms(case: CaseResult) -> float:
    return sum(run.duration_ms for run in case.runs)


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
