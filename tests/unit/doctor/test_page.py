"""The findings rendered as text and as JSON."""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from remote_evals.doctor import (
    CHECKS,
    Diagnosis,
    Finding,
    render_findings,
    render_head,
    render_json_page,
    render_verdict,
)
from remote_evals.doctor.findings import MAX_CHARS, FindingLog, failed, not_checked, passed, warned
from remote_evals.redaction import Redactor, Secret
from tests.unit.reporters.report_samples import NASTY

STARTED_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FINDINGS = (
    passed("dns", "agent.test is 192.0.2.1", addresses=["192.0.2.1"]),
    warned("tls", "12 day(s) left", "Renew it"),
    failed("turn", "the answer was 500", "Look at the logs", code="REMOTE_STATUS"),
)


def show(*findings: Finding) -> list[str]:
    return [line.plain for line in render_findings(findings)]


def close(*findings: Finding) -> tuple[Diagnosis, list[Sequence[Finding]]]:
    """Return the diagnosis of these findings, and what each call to `on_findings` received."""
    reported: list[Sequence[Finding]] = []
    log = FindingLog(Redactor(), reported.append)
    for finding in findings:
        log.add(finding)
    return log.close("https://agent.test"), reported


@pytest.mark.parametrize(
    ("finding", "lines"),
    [
        (FINDINGS[0], ["[PASS] DNS: agent.test is 192.0.2.1"]),
        (FINDINGS[1], ["[WARN] TLS: 12 day(s) left", "       Renew it."]),
        (FINDINGS[2], ["[FAIL] first turn: the answer was 500", "       Look at the logs."]),
        (not_checked("tls", "a proxy is used"), ["[SKIP] TLS: not checked: a proxy is used"]),
    ],
)
def test_a_finding_is_a_line_and_what_to_do(finding: Finding, lines: list[str]) -> None:
    """A finding is a line with a mark, the check and what was seen, and below it the advice, if any."""
    assert show(finding) == lines


def test_nothing_that_the_far_side_said_acts_on_a_terminal() -> None:
    """Escape sequences and CI log commands are made visible, and a line break does not start a new line."""
    (line,) = show(passed("turn", f"{NASTY}\n::error::x"))
    assert line.startswith("[PASS] first turn: \\x1b[31mred")
    assert "\n" not in line
    assert "##vso" not in line


def test_checks_that_were_not_come_to_are_one_line() -> None:
    """After a failure, one line names all checks that were not made, and the failed check."""
    diagnosis, reported = close(*FINDINGS)
    made = [finding.check for finding in FINDINGS]
    assert [finding.check for finding in diagnosis.findings] == [*made, *(c for c in CHECKS if c not in made)]
    (line,) = show(*reported[-1])
    assert line.startswith("[SKIP] TCP, health, HTTP, compression")
    assert line.endswith("with a wrong token: not checked: first turn failed")


def test_a_whole_check_up_has_nothing_left() -> None:
    """If every check was made, nothing is added."""
    diagnosis, reported = close(*(passed(check, "well") for check in CHECKS))
    assert (len(diagnosis.findings), len(reported)) == (len(CHECKS), len(CHECKS))


def test_secrets_are_scrubbed_before_anything_is_cut() -> None:
    """Secrets are redacted before a long text is cut, so no part of one remains, and in values too."""
    secret, redactor = "t0ken-qW7xqW7x", Redactor()
    reported: list[Finding] = []
    redactor.add(Secret(secret))
    log = FindingLog(redactor, reported.extend)
    log.add(warned("turn", "x" * (MAX_CHARS - 4) + secret, secret, echoed=[secret]))
    (finding,) = reported
    assert finding.happened == "x" * (MAX_CHARS - 4) + "[red…"
    assert (finding.advice, finding.values) == ("[redacted]", {"echoed": ["[redacted]"]})


@pytest.mark.parametrize(("last", "word"), [(passed("end", "well"), "fit"), (failed("end", "ill", "x"), "not fit")])
def test_the_verdict_counts(last: Finding, word: str) -> None:
    """The last lines give the verdict, the number of findings by status, and the ids to find the turn in the logs."""
    findings = (*FINDINGS[:2], last)
    diagnosis = Diagnosis(target="https://agent.test", findings=findings, session_id="eval-1", trace_id="f0")
    counts = f"{diagnosis.count('pass')} passed, 1 warning(s), {diagnosis.count('fail')} failed, 0 not checked"
    assert [line.plain for line in render_verdict(diagnosis)] == [
        "",
        f"{word} to be tested: {counts}",
        "session eval-1 · trace f0",
    ]


def test_the_head_names_the_deployment() -> None:
    """The first line names the deployment."""
    head = [line.plain for line in render_head("https://agent.test")]
    assert head[0].endswith(" · doctor · https://agent.test")


def test_the_json_has_what_the_page_has() -> None:
    """The JSON is one ASCII document with a format version, every finding and its values."""
    diagnosis = Diagnosis(
        target="https://agent.test",
        findings=(*FINDINGS, warned("memory", NASTY, "Look"), passed("cost", "$inf", cost_usd=math.inf)),
        error_code="REMOTE_STATUS",
        session_id="eval-1",
        trace_id="f0",
    )
    text = render_json_page(diagnosis, STARTED_AT)
    assert text.isascii()
    document = json.loads(text)
    findings = document.pop("findings")
    document.pop("tool_version")
    assert document == {
        "format_version": 1,
        "started_at": "2026-01-02T03:04:05+00:00",
        "target": "https://agent.test",
        "fit": False,
        "summary": {"pass": 2, "warn": 2, "fail": 1, "not_checked": 0},
        "error_code": "REMOTE_STATUS",
        "session_id": "eval-1",
        "trace_id": "f0",
    }
    assert findings[0] == {
        "check": "dns",
        "status": "pass",
        "happened": "agent.test is 192.0.2.1",
        "advice": "",
        "values": {"addresses": ["192.0.2.1"]},
    }
    assert findings[3]["happened"] == NASTY
    assert findings[4]["values"] == {"cost_usd": "Infinity"}
