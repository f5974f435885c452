"""Renders the findings as text, with a line for each check, its advice and the verdict at the end, and as JSON.

The JSON has format 1. Every key is described in README.md, beside this file, under "JSON". Fields may be added; none is
renamed or removed without a new `format_version`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import get_args

from .._version import __version__
from ..core.json_values import render_json_text
from ..reporters.terminal import INDENT, Line, make_line
from .findings import CHECKS, Diagnosis, Finding, Status

FORMAT_VERSION = 1

_MARKS: dict[Status, tuple[str, str]] = {
    "pass": ("[PASS]", "bold green"),
    "warn": ("[WARN]", "bold yellow"),
    "fail": ("[FAIL]", "bold red"),
    "not_checked": ("[SKIP]", "dim"),
}
_WORDS: dict[Status, str] = {"pass": "passed", "warn": "warning(s)", "fail": "failed", "not_checked": "not checked"}


def render_head(target: str) -> Iterator[Line]:
    """Yield the lines above the findings."""
    yield make_line("", f"remote-evals {__version__} · doctor · {target}", body_style="dim")
    yield make_line("", "")


def render_findings(findings: Sequence[Finding]) -> Iterator[Line]:
    """Yield the lines of a finding, or of several that say the same, without characters that control a terminal."""
    finding, labels = findings[0], ", ".join(CHECKS[one.check] for one in findings)
    mark, style = _MARKS[finding.status]
    why = "not checked: " if finding.status == "not_checked" else ""
    yield make_line(f"{mark} ", f"{labels}: {why}{finding.happened}", style)
    if finding.advice:
        yield make_line(INDENT, f"{finding.advice}.")


def render_verdict(diagnosis: Diagnosis) -> Iterator[Line]:
    """Yield the lines that say whether the deployment is fit to be tested, and how to find the turn in its logs."""
    yield make_line("", "")
    counts = ", ".join(f"{diagnosis.count(status)} {word}" for status, word in _WORDS.items())
    word, style = ("fit", "bold green") if diagnosis.is_fit else ("not fit", "bold red")
    yield make_line("", f"{word} to be tested: {counts}", body_style=style)
    if diagnosis.session_id and diagnosis.trace_id:
        yield make_line("", f"session {diagnosis.session_id} · trace {diagnosis.trace_id}", body_style="dim")


def render_json_page(diagnosis: Diagnosis, started_at: datetime) -> str:
    """Return the findings as JSON, which is valid and ASCII even if the deployment sent odd text."""
    document = {
        "format_version": FORMAT_VERSION,
        "tool_version": __version__,
        "started_at": started_at.isoformat(),
        "target": diagnosis.target,
        "fit": diagnosis.is_fit,
        "summary": {status: diagnosis.count(status) for status in get_args(Status)},
        "error_code": diagnosis.error_code,
        "session_id": diagnosis.session_id,
        "trace_id": diagnosis.trace_id,
        "findings": diagnosis.findings,
    }
    return render_json_text(document)
