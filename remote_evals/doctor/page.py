"""Renders the findings as text, with a line for each check, its advice and the verdict at the end, and as JSON.

The JSON has format 1. Fields may be added; none is renamed or removed without a new `format_version`. It is ASCII.
Names ending in `_ms` are milliseconds, in `_usd` US dollars. A number that is not finite is the string "NaN",
"Infinity" or "-Infinity".

Top:
    format_version  1
    tool_version    the version of remote-evals
    started_at      ISO 8601, UTC
    target          the deployment, without userinfo and query
    fit             whether no check failed
    summary         how many findings have each status: pass, warn, fail, not_checked
    error_code      why not every turn could be judged: an error code as in the reports of `run`, or null
    session_id, trace_id   of the first turn, to find it in the deployment's logs; null if it was not sent
    findings        one object for each check, in the order of the page

Each of `findings`:
    check           dns, tcp, tls, health, turn, http, compression, streaming, silence, times, order, end, usage, cost,
                    memory, transcript, no_token, wrong_token
    status          "pass", "warn", "fail" or "not_checked"
    happened        what was seen, or why the check was not made
    advice          what to do, "" if there is nothing to do
    values          the numbers and names found, {} for none:
        dns         addresses
        tcp         address, port, connect_ms
        tls         version, offers_http2, issuer, days_left (whole days)
        health      status, elapsed_ms
        turn        status, events (the number of events)
        http        version
        compression content_encoding
        streaming   produced_span_ms: from the first to the last timestamp of the events; held_back_ms: the difference
                    in delay between the most and the least delayed event
        silence     longest_gap_ms, keep_alives: the number of keep-alives in that gap
        times       headers_ms, first_event_ms, first_text_ms (each null if it never came), total_ms
        order       warnings
        end         finish_reason, tools: the names of the tools that were called
        usage       input_tokens, output_tokens, total_tokens, estimated
        cost        cost_usd
        transcript  messages (the number of messages)
        no_token, wrong_token   status of the answer
    If the request of a check failed, its values have the `code` of that failure instead.
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
