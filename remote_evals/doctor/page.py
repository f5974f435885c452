"""The findings as text for people: a line a check, what to do under it, and the verdict at the end."""

from collections.abc import Iterator, Sequence

from .._version import __version__
from ..reporters._lines import Line
from ..reporters._rows import INDENT, make_line
from ._finding import CHECKS, Checkup, Finding, Status

_MARKS: dict[Status, tuple[str, str]] = {
    "pass": ("[PASS]", "bold green"),
    "warn": ("[WARN]", "bold yellow"),
    "fail": ("[FAIL]", "bold red"),
    "not_checked": ("[SKIP]", "dim"),
}
_WORDS: dict[Status, str] = {"pass": "passed", "warn": "warning(s)", "fail": "failed", "not_checked": "not checked"}


def render_head(target: str) -> Iterator[Line]:
    """Yield what stands above all findings."""
    yield make_line("", f"remote-evals {__version__} · doctor · {target}", body_style="dim")
    yield make_line("", "")


def render_findings(findings: Sequence[Finding]) -> Iterator[Line]:
    """Yield the lines of a finding, or of several that say the same; nothing in them can act on a terminal."""
    finding, labels = findings[0], ", ".join(CHECKS[one.check] for one in findings)
    mark, style = _MARKS[finding.status]
    why = "not checked: " if finding.status == "not_checked" else ""
    yield make_line(f"{mark} ", f"{labels}: {why}{finding.happened}", style)
    if finding.advice:
        yield make_line(INDENT, f"{finding.advice}.")


def render_verdict(checkup: Checkup) -> Iterator[Line]:
    """Yield whether the deployment is fit to be tested, and how to find the turn in its logs."""
    yield make_line("", "")
    counts = ", ".join(f"{checkup.count(status)} {word}" for status, word in _WORDS.items())
    word, style = ("fit", "bold green") if checkup.is_fit else ("not fit", "bold red")
    yield make_line("", f"{word} to be tested: {counts}", body_style=style)
    if checkup.session_id and checkup.trace_id:
        yield make_line("", f"session {checkup.session_id} · trace {checkup.trace_id}", body_style="dim")
