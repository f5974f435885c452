"""Tracks the awaitables that `t` returns, so that a forgotten `await` is reported and never passes for a turn."""

import sys
from collections.abc import Callable, Coroutine, Generator
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

_T = TypeVar("_T")
_P = ParamSpec("_P")


class PendingCall(Coroutine[Any, Any, _T]):
    """One call of an async method of `t`, `t.send('hi')`: nothing happens until it is awaited.

    `label` shows the call, and `place` is the file and line where it was made.
    """

    def __init__(self, label: str, place: str, start: Callable[[], Coroutine[Any, Any, _T]]) -> None:
        self.label = label
        self.place = place
        self._start = start
        self._coroutine: Coroutine[Any, Any, _T] | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether it was awaited."""
        return self._coroutine is not None

    def __await__(self) -> Generator[Any, Any, _T]:
        return self._begin().__await__()

    def send(self, value: Any) -> Any:
        """Resume it, as a coroutine."""
        return self._begin().send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an error in it, as in a coroutine."""
        return self._begin().throw(*error)

    def close(self) -> None:
        """Close it, as a coroutine; a call that was never awaited has nothing to close."""
        if self._coroutine is not None:
            self._coroutine.close()

    def _begin(self) -> Coroutine[Any, Any, _T]:
        if self._coroutine is None:
            self._coroutine = self._start()
        return self._coroutine


class HasPendingCalls(Protocol):
    """An object that remembers the pending calls of its methods."""

    pending_calls: list[PendingCall[Any]]

    def scrub(self, text: str) -> str:
        """Return the text without secrets."""
        ...


_S = TypeVar("_S", bound=HasPendingCalls)


def pending_call(
    method: Callable[Concatenate[_S, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[_S, _P], PendingCall[_T]]:
    """Make an async method return a `PendingCall`, which its object remembers."""

    def begin(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> PendingCall[_T]:
        caller = sys._getframe(1)
        shown = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
        # Scrubbed before it is cut: half a secret is no longer recognised.
        shown = self.scrub(shown)
        label = f"t.{method.__name__}({shown if len(shown) <= 60 else shown[:59] + '…'})"
        place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        call = PendingCall(label, place, lambda: method(self, *args, **kwargs))
        self.pending_calls.append(call)
        return call

    # `wraps` would hide from type checkers that this is a method.
    update_wrapper(begin, method)
    return begin
