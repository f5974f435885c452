"""Pairs the start of each tool call with its end."""

from ..results import ToolCall
from .events import Subagent, ToolEnd, ToolStart

_Key = tuple[tuple[str, ...], tuple[str, ...], str]


class ToolCallTracker:
    """The calls of one run, in the order in which they started.

    Calls of one step run in parallel and end in any order, and a call id repeats across agents: the key of a call is
    its id together with the names and starting calls of the sub-agents that lead to it.
    """

    def __init__(self, turn: int) -> None:
        self._turn = turn
        self._calls: list[ToolCall] = []
        # The open calls of a key in the order of their starts; the values mean nothing.
        self._open: dict[_Key, dict[int, None]] = {}
        self._latest: dict[_Key, int] = {}

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls so far; `outcome` is None for those still open."""
        return tuple(self._calls)

    def start(self, event: ToolStart) -> None:
        """Record the start of a call; a resumed one goes on, even if a placeholder had ended it.

        Who approved it may have edited its arguments: those that it goes on with are those that count.
        """
        key = _key(event.subagent, event.call_id)
        open_calls = self._open.setdefault(key, {})
        if event.resumed and key in self._latest:
            index = self._latest[key]
            open_calls.setdefault(index)
            if event.args and event.args != self._calls[index].args:
                self._calls[index] = self._calls[index].model_copy(update={"args": event.args})
            return
        open_calls[len(self._calls)] = None
        self._append(key, self._call(event))

    def end(self, event: ToolEnd) -> bool:
        """Record the end of a call and return whether it had started.

        An end without a start is a call too: its start was lost, not its effect.
        """
        key = _key(event.subagent, event.call_id)
        ended = {
            "outcome": "ok" if event.error is None else "error",
            "result": event.result,
            "error": event.error,
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


def _key(subagent: Subagent | None, call_id: str) -> _Key:
    return (subagent.path, subagent.call_ids, call_id) if subagent else ((), (), call_id)
