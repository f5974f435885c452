"""What a run spends: the usage of its steps, and their sum."""

import math

from fake_server._wire import Event, usage_fields
from fake_server.script import Reply, Step, Usage


class Spending:
    """The usage of one turn over all its agents and pauses."""

    def __init__(self, reply: Reply, text: str) -> None:
        self._reply = reply
        self._input_tokens = _tokens(text)
        self._steps = 0
        self._spent: list[Usage] = []

    def of_step(self, step: Step) -> Event:
        """Count one step; return the `usage` field of its `step.done`, if it has one."""
        self._steps += 1
        usage = self._usage_of(step)
        if usage is None:
            return {}
        self._spent.append(usage)
        return {"usage": usage_fields(usage)}

    def of_run(self, *, is_over: bool) -> Event:
        """Return the `usage` field of `run.done`: the script's own once the run `is_over`, else the sum so far."""
        usage = self._reply.usage
        if usage and is_over:
            return {"usage": usage_fields(usage, self._steps if usage.model_calls is None else usage.model_calls)}
        return {"usage": usage_fields(_sum(self._spent), self._steps)} if self._spent else {}

    def _usage_of(self, step: Step) -> Usage | None:
        if step.error or (self._reply.says("usage") and self._reply.usage is None):
            return None
        if step.says("usage"):
            return step.usage
        return Usage(input=self._input_tokens, output=_tokens(step.text), estimated=True)


def _tokens(text: str) -> int:
    return math.ceil(len(text) / 4)


def _sum(spent: list[Usage]) -> Usage:
    costs = [usage.cost_usd for usage in spent if usage.cost_usd is not None]
    return Usage(
        input=sum(usage.input for usage in spent),
        output=sum(usage.output for usage in spent),
        # whole tenths of a nanodollar, where a plain sum shows 0.30000000000000004
        cost_usd=round(sum(costs), 10) if costs else None,
        estimated=any(usage.estimated for usage in spent),
    )
