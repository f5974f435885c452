"""The connection under a request, which ASGI hides: to break it, one must reach it."""

import asyncio
import os
import socket
import struct
from typing import cast

from starlette.types import Receive, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

_LINGER_FORMAT = "hh" if os.name == "nt" else "ii"


class Connection(H11Protocol):
    """Uvicorn's HTTP/1.1, which also puts its transport into the state of every request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Remember the transport, and log no access."""
        super().connection_made(transport)
        self.access_log = False
        self.app_state = {**self.app_state, "transport": transport}


def cut(scope: Scope) -> None:
    """Close the connection of a request once what was written is out."""
    _transport(scope).close()


def reset(scope: Scope) -> None:
    """Close the connection of a request so that the client gets a TCP reset."""
    transport = _transport(scope)
    # zero seconds to linger: the kernel sends RST in place of FIN
    linger = struct.pack(_LINGER_FORMAT, 1, 0)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    transport.abort()


async def disconnected(receive: Receive) -> None:
    """Return once the client is gone, or was sent all: the only news after the body of its request."""
    await receive()


def _transport(scope: Scope) -> asyncio.Transport:
    return cast("asyncio.Transport", scope["state"]["transport"])
