"""What a judge said of one reply, and what asking it used up."""

from pydantic import Field

from ._data import Data


class JudgeUsage(Data):
    """Tokens and dollars of one or more gradings, `calls` in number.

    Tokens that a judge does not report count as 0; `cost_usd` None means that no price is known, which is not zero.
    """

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    total_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    calls: int = Field(default=0, ge=0)

    def __add__(self, other: "JudgeUsage") -> "JudgeUsage":
        """Return both together; the cost is the sum of those that are known."""
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return JudgeUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            total_tokens=self.total_tokens + other.total_tokens,
            cost_usd=sum(costs) if costs else None,
            calls=self.calls + other.calls,
        )


class Verdict(Data):
    """A score from 0 to 1, the judge's own yes or no where it gave one, and why."""

    score: float = Field(ge=0, le=1, allow_inf_nan=False)
    passed: bool | None = None
    reason: str = ""
    usage: JudgeUsage = JudgeUsage()
