"""Addresses that accept no connection."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def closed_port() -> Iterator[str]:
    """Yield an address where nothing listens, and that no other process can take in the meantime."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield "{}:{}".format(*bound.getsockname())


@contextmanager
def full_port() -> Iterator[str]:
    """Yield an address that answers no connection attempt: its queue of waiting connections is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield "{}:{}".format(*listener.getsockname())
