"""What a run says that it used, as older and newer servers put it."""

from typing import TypeGuard

from .core.json_values import is_number
from .events import Frame
from .results import Usage


def parse_usage(usage: Frame) -> Usage | None:
    """Return the usage, or None where it holds no count of tokens; older servers use OpenAI's names for them."""
    inputs = _first_number(usage, "inputTokens", "promptTokens")
    outputs = _first_number(usage, "outputTokens", "completionTokens")
    total = _first_number(usage, "totalTokens")
    if total is None and (inputs is None or outputs is None):
        return None
    cost, calls = usage.get("costUsd"), usage.get("modelCalls")
    return Usage(
        input_tokens=int(inputs or 0),
        output_tokens=int(outputs or 0),
        total_tokens=int((inputs or 0) + (outputs or 0) if total is None else total),
        cost_usd=cost if _is_amount(cost) else None,
        model_calls=int(calls) if _is_amount(calls) else None,
        estimated=usage.get("estimated") is True,
    )


def _first_number(usage: Frame, *names: str) -> float | None:
    return next((usage[name] for name in names if _is_amount(usage.get(name))), None)


def _is_amount(value: object) -> TypeGuard[float]:
    # What no run can have taken is no report of what it took.
    return is_number(value) and 0 <= value < 1e15
