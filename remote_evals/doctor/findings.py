"""The findings of `doctor`: one for each check, collected in order."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..errors import RemoteError
from ..redaction import Redactor

Status = Literal["pass", "warn", "fail", "not_checked"]

# The name of every check, in the order of the page, and its label there.
CHECKS = {
    "dns": "DNS",
    "tcp": "TCP",
    "tls": "TLS",
    "health": "health",
    "turn": "first turn",
    "http": "HTTP",
    "compression": "compression",
    "streaming": "streaming",
    "silence": "silence",
    "times": "times",
    "order": "event order",
    "end": "end of the run",
    "usage": "usage",
    "cost": "cost",
    "memory": "memory",
    "transcript": "transcript",
    "no_token": "without a token",
    "wrong_token": "with a wrong token",
}

# Text from the deployment can have any length.
MAX_CHARS = 500


class Finding(BaseModel):
    """What one check found. `happened` and `advice` are phrases without a full stop; a check that passed has no advice.

    For a check that was not made, `happened` gives the reason. `values` are the numbers and names found, for machines.
    """

    model_config = ConfigDict(frozen=True)

    check: str
    status: Status
    happened: str
    advice: str = ""
    values: dict[str, Any] = Field(default_factory=dict)


class Diagnosis(BaseModel):
    """All findings about a deployment, one for each of `CHECKS`.

    `error_code` is that of the first error that kept a turn from being judged, None if there was no such error.
    `session_id` and `trace_id` are those of the first turn, None if it was not sent.
    """

    model_config = ConfigDict(frozen=True)

    target: str
    findings: tuple[Finding, ...]
    error_code: str | None = None
    session_id: str | None = None
    trace_id: str | None = None

    @property
    def is_fit(self) -> bool:
        """Whether no check failed."""
        return self.count("fail") == 0

    def count(self, status: Status) -> int:
        """Return how many checks have this status."""
        return sum(finding.status == status for finding in self.findings)


def passed(check: str, happened: str, **values: Any) -> Finding:
    """Return the finding that all is well."""
    return Finding(check=check, status="pass", happened=happened, values=values)


def warned(check: str, happened: str, advice: str, **values: Any) -> Finding:
    """Return a finding that makes some results less reliable, and what to do about it."""
    return Finding(check=check, status="warn", happened=happened, advice=advice, values=values)


def failed(check: str, happened: str, advice: str, **values: Any) -> Finding:
    """Return a finding that makes the deployment unfit, and what to do about it."""
    return Finding(check=check, status="fail", happened=happened, advice=advice, values=values)


def not_checked(check: str, why: str) -> Finding:
    """Return the finding that a check was not made, and why."""
    return Finding(check=check, status="not_checked", happened=why)


OnFindings = Callable[[Sequence[Finding]], object]


class FindingLog:
    """Collects findings in the order of `CHECKS`, and passes each to `on_findings` at once, without secrets.

    `on_findings` receives several together if they say the same. `session_id` and `trace_id` are set from outside.
    """

    def __init__(self, redactor: Redactor, on_findings: OnFindings) -> None:
        self.session_id: str | None = None
        self.trace_id: str | None = None
        self._redactor = redactor
        self._on_findings = on_findings
        self._findings: list[Finding] = []
        self._error_code: str | None = None

    def add(self, *findings: Finding) -> None:
        """Add a finding, or several that say the same about different checks."""
        scrubbed = [_shorten(self._redactor.scrub_value(finding)) for finding in findings]
        self._findings += scrubbed
        self._on_findings(scrubbed)

    def add_failure(self, check: str, failure: RemoteError) -> None:
        """Add the finding that a turn could not be judged; the first such failure sets the diagnosis's error code."""
        self._error_code = self._error_code or failure.code
        self.add(failed(check, failure.happened, failure.advice, code=failure.code))

    def break_off(self, code: str) -> None:
        """Record the code of the error that keeps any turn from being sent."""
        self._error_code = code

    def close(self, target: str) -> Diagnosis:
        """Mark every check that was not reached as not checked, and return all findings."""
        done = {finding.check for finding in self._findings}
        failures = [CHECKS[finding.check] for finding in self._findings if finding.status == "fail"]
        if left := [check for check in CHECKS if check not in done]:
            self.add(*(not_checked(check, f"{failures[-1]} failed") for check in left))
        return Diagnosis(
            target=target,
            findings=tuple(self._findings),
            error_code=self._error_code,
            session_id=self.session_id,
            trace_id=self.trace_id,
        )


def _shorten(finding: Finding) -> Finding:
    # Only after scrubbing: half a secret would not be recognised.
    if len(finding.happened) <= MAX_CHARS:
        return finding
    return finding.model_copy(update={"happened": f"{finding.happened[:MAX_CHARS]}…"})
