"""What `t` waits for: each wait is remembered, so that a forgotten `await` is told and never passes for a turn."""

import sys
from collections.abc import Callable, Coroutine, Generator
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

_T = TypeVar("_T")
_P = ParamSpec("_P")


class PendingCall(Coroutine[Any, Any, _T]):
    """One wait, `t.send('hi')`: nothing happens until it is awaited. `place` is where it was called."""

    def __init__(self, label: str, place: str, start: Callable[[], Coroutine[Any, Any, _T]]) -> None:
        self.label = label
        self.place = place
        self._start = start
        self._begun: Coroutine[Any, Any, _T] | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether anybody awaited it."""
        return self._begun is not None

    def __await__(self) -> Generator[Any, Any, _T]:
        return self._begin().__await__()

    def send(self, value: Any) -> Any:
        """Go on, as a coroutine does."""
        return self._begin().send(value)

    def throw(self, *error: Any) -> Any:
        """Go on with an error, as a coroutine does."""
        return self._begin().throw(*error)

    def close(self) -> None:
        """End it where it stands; one that was never awaited has nothing to end."""
        if self._begun is not None:
            self._begun.close()

    def _begin(self) -> Coroutine[Any, Any, _T]:
        if self._begun is None:
            self._begun = self._start()
        return self._begun


class HasPendingCalls(Protocol):
    """What keeps the steps that were begun on it."""

    steps: list[PendingCall[Any]]

    def scrub(self, text: str) -> str:
        """Return a text without secrets."""
        ...


_S = TypeVar("_S", bound=HasPendingCalls)


def step(
    method: Callable[Concatenate[_S, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[_S, _P], PendingCall[_T]]:
    """Make the calls of an async method steps of its object."""

    def begin(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> PendingCall[_T]:
        caller = sys._getframe(1)
        shown = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
        # Scrubbed before it is cut: half a secret is no longer recognised.
        shown = self.scrub(shown)
        label = f"t.{method.__name__}({shown if len(shown) <= 60 else shown[:59] + '…'})"
        begun = PendingCall(
            label, f"{caller.f_code.co_filename}:{caller.f_lineno}", lambda: method(self, *args, **kwargs)
        )
        self.steps.append(begun)
        return begun

    # `wraps` would hide from type checkers that this is a method.
    update_wrapper(begin, method)
    return begin
