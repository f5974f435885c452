"""How often what has its `times` was taken since the server started."""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol, TypeVar


class Lasting(Protocol):
    """What is good for that many requests, or for all when that is None."""

    @property
    def times(self) -> int | None:
        """The requests it is good for."""


T = TypeVar("T", bound=Lasting)


class TimesCounter:
    """Counts by identity: what is equal to something worn out is not worn out itself."""

    def __init__(self) -> None:
        self._taken: Counter[int] = Counter()

    def take(self, items: Iterable[T]) -> T | None:
        """Return the first item that is not worn out, and count it."""
        for item in items:
            if item.times is None or self._taken[id(item)] < item.times:
                self._taken[id(item)] += 1
                return item
        return None
