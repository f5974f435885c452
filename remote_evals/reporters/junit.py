"""The report as JUnit XML, in the dialect that GitHub's actions, GitLab, Jenkins and CircleCI read.

They differ, so: a case has at most one `failure` or `error` (all show only the first, Jenkins the error before the
failure); what matters stands in its text (GitLab drops `message` where there is text) and the gist in its `message`
too (annotations show that alone); a skip repeats its reason as text. `file` stands on suite and case, `classname` is
the suite, times are seconds, and totals are those of what is below.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..results import EvalReport, EvalResult, Status
from ._evidence import collect_evidence, describe_ids, list_soft_failures, list_unchecked
from ._visible import show_xml

_LONGEST_ARGS = 2_000
_UNNAMED = "remote-evals"


def render_junit(report: EvalReport) -> str:
    """Return the report as JUnit XML; whatever the agent sent, it is well-formed."""
    root = _element("testsuites", name=_UNNAMED, **_totals(report.results), time=_seconds(report.duration_ms))
    groups: dict[tuple[str, str], list[EvalResult]] = {}
    for result in report.results:
        groups.setdefault((result.suite, result.file), []).append(result)
    root.extend(_suite(results, report) for results in groups.values())
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text.decode() + "\n"


def _suite(results: Sequence[EvalResult], report: EvalReport) -> Element:
    suite = _element(
        "testsuite",
        name=_suite_name(results[0]),
        file=results[0].file,
        **_totals(results),
        time=_seconds(sum(result.duration_ms for result in results)),
        timestamp=report.started_at,
    )
    _add_properties(suite, [("target", results[0].target or report.target), ("tool_version", report.tool_version)])
    suite.extend(_case(result) for result in results)
    return suite


def _case(result: EvalResult) -> Element:
    case = _element(
        "testcase",
        name=result.name,
        classname=_suite_name(result),
        file=result.file,
        time=_seconds(result.duration_ms),
    )
    _add_properties(case, _properties(result))
    case.extend(_outcome(result))
    notes = [f"soft: {text}" for text in list_soft_failures(result)]
    notes += [f"warning: {text}" for text in list_unchecked(result)]
    if notes:
        SubElement(case, "system-out").text = show_xml("\n".join(notes))
    return case


def _outcome(result: EvalResult) -> Iterable[Element]:
    match result.status:
        case "failed":
            reasons = [failed.message or failed.name for failed in result.failures] or ["the case failed"]
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            kind = result.failures[0].kind if result.failures else "gate"
            yield _element("failure", _explain(result, reasons), type=kind, message=reasons[0] + more)
        case "error":
            code = result.error.code if result.error else "ERROR"
            message = result.error.message if result.error else "the case could not be judged"
            yield _element("error", _explain(result, []), type=code, message=message)
        case "skipped":
            reason = result.error.message if result.error else "not run"
            yield _element("skipped", reason, message=reason)


def _explain(result: EvalResult, reasons: Sequence[str]) -> str:
    error = [f"{result.error.code}: {result.error.message}"] if result.error else []
    seen = [f"{found.label}: " + "\n".join(found.lines) for found in collect_evidence(result, _LONGEST_ARGS)]
    return "\n".join([*reasons, *error, *([""] if seen else []), *seen, describe_ids(result)]).rstrip("\n")


def _properties(result: EvalResult) -> list[tuple[str, str]]:
    found = [("tag", tag) for tag in result.tags]
    found += [(f"metadata.{key}", value) for key, value in result.metadata.items() if isinstance(value, str)]
    if result.session_id:
        found.append(("session_id", result.session_id))
    return found + [("trace_id", turn.trace_id) for turn in result.turns if turn.trace_id]


def _add_properties(parent: Element, pairs: Sequence[tuple[str, str]]) -> None:
    if pairs:
        SubElement(parent, "properties").extend(_element("property", name=name, value=value) for name, value in pairs)


def _totals(results: Sequence[EvalResult]) -> dict[str, str]:
    counts = Counter(result.status for result in results)
    names: dict[str, Status] = {"failures": "failed", "errors": "error", "skipped": "skipped"}
    return {"tests": str(counts.total()), **{name: str(counts[status]) for name, status in names.items()}}


def _element(tag: str, text: str | None = None, /, **attributes: str) -> Element:
    # What is not known has no attribute: CircleCI takes an empty `file` for a file without a name.
    element = Element(tag, {name: show_xml(value) for name, value in attributes.items() if value})
    element.text = None if text is None else show_xml(text)
    return element


def _suite_name(result: EvalResult) -> str:
    return result.suite or result.file or _UNNAMED


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
