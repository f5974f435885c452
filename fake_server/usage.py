"""The usage of a run: of each step, and their sum."""

import math

from fake_server.events import Event, without_none
from fake_server.script import Reply, Step, StepUsage


class TurnUsage:
    """Adds up the usage of one turn, over all its agents and pauses."""

    def __init__(self, reply: Reply, text: str) -> None:
        self._reply = reply
        self._input_tokens = _estimate_tokens(text)
        self._steps = 0
        self._usages: list[StepUsage] = []

    def add_step(self, step: Step) -> Event:
        """Count one step; return the `usage` field of its `step.done`, if it has one."""
        self._steps += 1
        usage = self._get_step_usage(step)
        if usage is None:
            return {}
        self._usages.append(usage)
        return {"usage": _make_fields(usage)}

    def make_run_fields(self, *, is_over: bool) -> Event:
        """Return the `usage` field of `run.done`: the script's own once the run `is_over`, else the sum so far."""
        usage = self._reply.usage
        if usage and is_over:
            return {"usage": _make_fields(usage, self._steps if usage.model_calls is None else usage.model_calls)}
        return {"usage": _make_fields(_add_up(self._usages), self._steps)} if self._usages else {}

    def _get_step_usage(self, step: Step) -> StepUsage | None:
        if step.error or (self._reply.gives("usage") and self._reply.usage is None):
            return None
        if step.gives("usage"):
            return step.usage
        return StepUsage(input=self._input_tokens, output=_estimate_tokens(step.text), estimated=True)


def _estimate_tokens(text: str) -> int:
    return math.ceil(len(text) / 4)


def _add_up(usages: list[StepUsage]) -> StepUsage:
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return StepUsage(
        input=sum(usage.input for usage in usages),
        output=sum(usage.output for usage in usages),
        # a plain sum shows 0.30000000000000004
        cost_usd=round(sum(costs), 10) if costs else None,
        estimated=any(usage.estimated for usage in usages),
    )


def _make_fields(usage: StepUsage, model_calls: int | None = None) -> Event:
    """Return `usage` under all its names on the wire, aliases included, without what is unknown."""
    fields: Event = {
        "promptTokens": usage.input,
        "completionTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "estimated": usage.estimated,
        "costUsd": usage.cost_usd,
        "modelCalls": model_calls,
    }
    return without_none(fields)
