"""What a check-up finds: one line a check."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..errors import RemoteError
from ..redaction import Redactor

Status = Literal["pass", "warn", "fail", "not_checked"]

# Every check by its name, in the order of the page, with what the page calls it.
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


class Finding(BaseModel):
    """What one check found. `happened` and `advice` are phrases without a full stop; a check that passed has no advice.

    Of one that was not made, `happened` says why. `values` are the numbers and names behind it, for machines.
    """

    model_config = ConfigDict(frozen=True)

    check: str
    status: Status
    happened: str
    advice: str = ""
    values: dict[str, Any] = Field(default_factory=dict)


class Diagnosis(BaseModel):
    """All findings about a deployment, one for each of `CHECKS` unless the check-up was broken off.

    `error_code` is that of the `RemoteError` for which no turn could be judged, None when every turn came to its end.
    `session_id` and `trace_id` are those of the first turn, None when it was not sent.
    """

    model_config = ConfigDict(frozen=True)

    target: str
    findings: tuple[Finding, ...]
    error_code: str | None = None
    session_id: str | None = None
    trace_id: str | None = None

    @property
    def is_fit(self) -> bool:
        """Whether nothing failed."""
        return self.count("fail") == 0

    def count(self, status: Status) -> int:
        """Return how many checks have this status."""
        return sum(finding.status == status for finding in self.findings)


def passed(check: str, happened: str, **values: Any) -> Finding:
    """Return that all is well."""
    return Finding(check=check, status="pass", happened=happened, values=values)


def warned(check: str, happened: str, advice: str, **values: Any) -> Finding:
    """Return what makes some results worth less, and what to do about it."""
    return Finding(check=check, status="warn", happened=happened, advice=advice, values=values)


def failed(check: str, happened: str, advice: str, **values: Any) -> Finding:
    """Return what makes the deployment unfit, and what to do about it."""
    return Finding(check=check, status="fail", happened=happened, advice=advice, values=values)


def not_checked(check: str, why: str) -> Finding:
    """Return that nothing is known, and why."""
    return Finding(check=check, status="not_checked", happened=why)


# The far side may have said any amount of it.
MAX_CHARS = 500

OnFindings = Callable[[Sequence[Finding]], object]


class FindingLog:
    """Takes findings in the order of `CHECKS` and passes them on, scrubbed, as soon as they are there.

    `on_findings` gets several at once where they say the same. `session_id` and `trace_id` are set by whoever has them.
    """

    def __init__(self, redactor: Redactor, on_findings: OnFindings) -> None:
        self.session_id: str | None = None
        self.trace_id: str | None = None
        self._redactor = redactor
        self._on_findings = on_findings
        self._findings: list[Finding] = []
        self._error_code: str | None = None

    def add(self, *findings: Finding) -> None:
        """Take a finding, or several that say the same of different checks."""
        scrubbed = [_shorten(self._redactor.scrub_value(finding)) for finding in findings]
        self._findings += scrubbed
        self._on_findings(scrubbed)

    def add_failure(self, check: str, failure: RemoteError) -> None:
        """Take that no turn came back that can be judged; the first such failure is the one of the check-up."""
        self._error_code = self._error_code or failure.code
        self.add(failed(check, failure.happened, failure.advice, code=failure.code))

    def break_off(self, code: str) -> None:
        """Note why there will be no turn."""
        self._error_code = code

    def close(self, target: str) -> Diagnosis:
        """Take of every check that was not come to that it was not made, and return all findings."""
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
    # Scrubbed before it is cut: half a secret is no longer recognised.
    if len(finding.happened) <= MAX_CHARS:
        return finding
    return finding.model_copy(update={"happened": f"{finding.happened[:MAX_CHARS]}…"})
