"""The outcome of all cases."""

from ._case import EvalResult, Status
from ._data import Data


class EvalReport(Data):
    """Every case of a run of suites, in the order of the files. `duration_ms` is wall-clock time.

    `target` is the deployment as it may be shown: no userinfo, no query. `started_at` is ISO 8601 in UTC.
    """

    tool_version: str
    started_at: str
    target: str
    duration_ms: float
    results: tuple[EvalResult, ...] = ()
    interrupted: bool = False

    def count(self, status: Status) -> int:
        """Return how many cases ended so."""
        return sum(result.status == status for result in self.results)

    @property
    def pass_rate(self) -> float:
        """The share of cases that passed, 0 to 1; no case at all is 0, never a silent 1."""
        return self.count("passed") / len(self.results) if self.results else 0.0

    @property
    def avg_score(self) -> float:
        """The mean score of all cases; 0 for none."""
        return sum(result.score for result in self.results) / len(self.results) if self.results else 0.0

    @property
    def soft_failed(self) -> int:
        """How many soft assertions failed."""
        return sum(len(result.failed("soft")) for result in self.results)

    @property
    def steps(self) -> int:
        """The steps of all cases."""
        return sum(result.run.steps for result in self.results)

    @property
    def total_tokens(self) -> int | None:
        """The tokens of all cases that reported any; None when none did."""
        known = [result.run.usage.total_tokens for result in self.results if result.run.usage]
        return sum(known) if known else None

    @property
    def cost_usd(self) -> float | None:
        """The dollars of all cases that reported a cost; None when none did."""
        usages = [result.run.usage for result in self.results if result.run.usage]
        known = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        return sum(known) if known else None
