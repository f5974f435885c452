"""How a run reaches the client: its frames are produced on time by a task of their own, and sent as a fault allows.

A fault may break the connection under a request. ASGI hides it, so `HttpProtocol` keeps it in the state of the request.
"""

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from typing import cast

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from fake_server.events import DONE_FRAME, Stamp, TimedEvent, to_frame
from fake_server.fault_frames import BODY_CHANGES, FRAME_CHANGES, ConnectionEnd, Frames
from fake_server.fault_order import ORDER_CHANGES
from fake_server.faults import Fault

CHANGES = {**BODY_CHANGES, **FRAME_CHANGES, **ORDER_CHANGES}

_LINGER_FORMAT = "hh" if os.name == "nt" else "ii"


class LiveFrames:
    """The frames of a run as they are produced; they can be read once, at any later time."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def play(self, events: Sequence[TimedEvent], record: Callable[[], None]) -> None:
        """Emit `events` at their times, even if nobody reads them; call `record` just before the last one."""
        loop, stamp = asyncio.get_running_loop(), Stamp()
        began_s = loop.time()
        try:
            for timed in events:
                await asyncio.sleep(began_s + timed.at_s - loop.time())
                if timed is events[-1]:
                    record()
                self._frames.put_nowait(to_frame(stamp(timed.event)))
            self._frames.put_nowait(DONE_FRAME)
        finally:
            self._frames.put_nowait(None)

    def __aiter__(self) -> "LiveFrames":
        return self

    async def __anext__(self) -> bytes:
        frame = await self._frames.get()
        if frame is None:
            # the end stays the end, however often it is read
            self._frames.put_nowait(None)
            raise StopAsyncIteration
        return frame


class EventStream(StreamingResponse):
    """The response that sends `frames` until they end, a fault strikes, or the client leaves: `on_leave` is called."""

    def __init__(
        self,
        frames: Frames,
        fault: Fault | None,
        content_type: str = "text/event-stream",
        on_leave: Callable[[], None] | None = None,
    ) -> None:
        self._on_leave = on_leave
        headers = {"cache-control": "no-cache", "content-type": content_type}
        if fault and fault.name == "wrong-content-type":
            headers["content-type"] = fault.content_type
        if fault and fault.name == "compressed":
            headers["content-encoding"] = "gzip"
        change = CHANGES.get(fault.name) if fault else None
        super().__init__(change(frames, fault) if change and fault else frames, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response through ASGI."""
        gone = asyncio.ensure_future(wait_for_disconnect(receive))
        sending = asyncio.ensure_future(self.stream_response(send))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
            elif self._on_leave:
                self._on_leave()
        except ConnectionEnd as end:
            await BrokenConnection(by_reset=end.by_reset)(scope, receive, send)
        finally:
            gone.cancel()
            sending.cancel()


class HalvedBody(EventStream):
    """A whole body, sent in two halves, so that the faults of a stream can strike after a part of it."""

    def __init__(self, body: bytes, fault: Fault | None, content_type: str) -> None:
        super().__init__(_halve(body), fault, content_type)


async def _halve(body: bytes) -> AsyncIterator[bytes]:
    middle = len(body) // 2
    yield body[:middle]
    yield body[middle:]


class BrokenConnection(Response):
    """Sends nothing more and breaks the connection."""

    def __init__(self, *, by_reset: bool) -> None:
        super().__init__()
        self._break = _reset if by_reset else _close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Break the connection; return once it is closed, because uvicorn reports a response that ends earlier."""
        self._break(cast("asyncio.Transport", scope["state"]["transport"]))
        await wait_for_disconnect(receive)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return once the client has left or received everything: the only message after the body of its request."""
    await receive()


def _close(transport: asyncio.Transport) -> None:
    """Close a connection once what was written is sent."""
    transport.close()


def _reset(transport: asyncio.Transport) -> None:
    """Close a connection so that the client gets a TCP reset."""
    # zero seconds to linger: the kernel sends RST instead of FIN
    linger = struct.pack(_LINGER_FORMAT, 1, 0)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    transport.abort()


class HttpProtocol(H11Protocol):
    """Uvicorn's HTTP/1.1, which also puts its transport into the state of every request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Keep the transport, and turn off the access log."""
        super().connection_made(transport)
        self.access_log = False
        self.app_state = {**self.app_state, "transport": transport}
