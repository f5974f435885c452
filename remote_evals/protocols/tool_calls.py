"""Which tools were called: pairs each `tool.start` with the `tool.done` or `tool.error` that ends it."""

from typing import TypeGuard

from ..core.json_values import is_number
from ..results import RunError, ToolCall, Usage
from .events import Frame, Subagent, ToolEnd, ToolStart

_ERROR_FIELDS = ("name", "message", "code")

_Key = tuple[tuple[str, ...], tuple[str, ...], str]


class ToolCallTracker:
    """The calls of one run, in the order in which they started.

    Calls of one step run in parallel and end in any order, and a call id repeats across agents: the key of a call is
    its id together with the names and starting calls of the sub-agents that lead to it.
    """

    def __init__(self, turn: int) -> None:
        self._turn = turn
        self._calls: list[ToolCall] = []
        # In order of their starts; the values mean nothing.
        self._open: dict[_Key, dict[int, None]] = {}
        self._latest: dict[_Key, int] = {}

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls so far; `outcome` is None for those still open."""
        return tuple(self._calls)

    def start(self, event: ToolStart) -> None:
        """Note a call. A resumed one goes on, be it open or ended by a placeholder; any other start is a new call."""
        key = _key(event.subagent, event.call_id)
        open_calls = self._open.setdefault(key, {})
        if event.resumed and key in self._latest:
            open_calls.setdefault(self._latest[key])
            return
        open_calls[len(self._calls)] = None
        self._append(key, self._call(event))

    def end(self, event: ToolEnd) -> bool:
        """Note how a call ended, and say whether it had started.

        An end without a start is a call too: its start was lost, not its effect.
        """
        key = _key(event.subagent, event.call_id)
        ended = {
            "outcome": "ok" if event.error is None else "error",
            "result": event.result,
            "error": None if event.error is None else parse_run_error(event.error),
            "duration_ms": event.duration_ms,
        }
        if open_calls := self._open.get(key):
            index = next(iter(open_calls))
            del open_calls[index]
            self._calls[index] = self._calls[index].model_copy(update=ended)
            return True
        self._append(key, self._call(event).model_copy(update=ended))
        return False

    def _append(self, key: _Key, call: ToolCall) -> None:
        self._latest[key] = len(self._calls)
        self._calls.append(call)

    def _call(self, event: ToolStart | ToolEnd) -> ToolCall:
        path = event.subagent.path if event.subagent else ()
        args = event.args if isinstance(event, ToolStart) else {}
        return ToolCall(id=event.call_id, name=event.name, args=args, subagent_path=path, turn=self._turn)


def parse_run_error(error: Frame) -> RunError:
    """Return an error of the wire, `{name, message, code?}`; what is absent stays empty."""
    name, message, code = (value if isinstance(value, str) else None for value in map(error.get, _ERROR_FIELDS))
    return RunError(name=name or "Error", message=message or "", code=code)


def _key(subagent: Subagent | None, call_id: str) -> _Key:
    return (subagent.path, subagent.call_ids, call_id) if subagent else ((), (), call_id)


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
