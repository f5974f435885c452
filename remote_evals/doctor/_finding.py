"""What a check-up finds: one line a check."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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


class Checkup(BaseModel):
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
