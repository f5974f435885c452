"""The frames of a stream on their way to the client."""

from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import TypeVar

from fake_server.faults import Fault

T = TypeVar("T")

Frames = AsyncIterator[bytes]


class ConnectionEnd(Exception):  # noqa: N818 - an order to the sender, not an error
    """Ends the connection in the middle of the stream, with a TCP reset if `by_reset`."""

    def __init__(self, *, by_reset: bool) -> None:
        super().__init__(by_reset)
        self.by_reset = by_reset


async def first(items: AsyncIterator[T], count: int) -> AsyncIterator[T]:
    """Yield `count` of the items, or all when they are fewer, and leave the rest."""
    for _ in range(count):
        try:
            yield await anext(items)
        except StopAsyncIteration:
            return


def late(
    change: Callable[[AsyncIterator[T], Fault], AsyncIterator[T]],
) -> Callable[[AsyncIterator[T], Fault], AsyncIterator[T]]:
    """Let what comes before a fault strikes through; `change` gets the rest."""

    @wraps(change)
    async def changed(items: AsyncIterator[T], fault: Fault) -> AsyncIterator[T]:
        async for item in first(items, fault.after):
            yield item
        async for item in change(items, fault):
            yield item

    return changed
