"""What a check-up has found so far."""

from collections.abc import Callable, Sequence

from ..errors import RemoteError
from ..redaction import Redactor
from ._finding import CHECKS, Checkup, Finding, failed, not_checked

# The far side may have said any amount of it.
MAX_CHARS = 500

OnFindings = Callable[[Sequence[Finding]], object]


class Journal:
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

    def close(self, target: str) -> Checkup:
        """Take of every check that was not come to that it was not made, and return all findings."""
        done = {finding.check for finding in self._findings}
        failures = [CHECKS[finding.check] for finding in self._findings if finding.status == "fail"]
        if left := [check for check in CHECKS if check not in done]:
            self.add(*(not_checked(check, f"{failures[-1]} failed") for check in left))
        return Checkup(
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
