"""A run as it goes out: played in time by a task of its own, and sent to the client as far as a fault allows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from fake_server._connection import cut, disconnected, reset
from fake_server._faulty import with_fault
from fake_server._frames import ConnectionEnd
from fake_server._timeline import Timed
from fake_server._wire import DONE_FRAME, Stamp, to_frame
from fake_server.faults import Fault


class LiveFrames:
    """The frames of a run as they come; read them once, and as late as you like."""

    def __init__(self) -> None:
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def play(self, events: Sequence[Timed], record: Callable[[], None]) -> None:
        """Emit `events` at their moments, whoever reads; `record` the turn just before the last of them."""
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
    """The answer that sends `frames` until their end, a fault, or the client's leaving."""

    def __init__(
        self, frames: AsyncIterator[bytes], fault: Fault | None, content_type: str = "text/event-stream"
    ) -> None:
        headers = {"cache-control": "no-cache", "content-type": content_type}
        if fault and fault.name == "wrong-content-type":
            headers["content-type"] = fault.content_type
        if fault and fault.name == "compressed":
            headers["content-encoding"] = "gzip"
        super().__init__(with_fault(frames, fault), headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, as ASGI has it."""
        gone = asyncio.ensure_future(disconnected(receive))
        sending = asyncio.ensure_future(self.stream_response(send))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
        except ConnectionEnd as end:
            await BrokenConnection(by_reset=end.by_reset)(scope, receive, send)
        finally:
            gone.cancel()
            sending.cancel()


class HalvedBody(EventStream):
    """A whole body, sent in two halves, so that the faults of a stream have something to come after."""

    def __init__(self, body: bytes, fault: Fault | None, content_type: str) -> None:
        super().__init__(_halves(body), fault, content_type)


async def _halves(body: bytes) -> AsyncIterator[bytes]:
    middle = len(body) // 2
    yield body[:middle]
    yield body[middle:]


class BrokenConnection(Response):
    """No more of an answer: the connection breaks."""

    def __init__(self, *, by_reset: bool) -> None:
        super().__init__()
        self._break = reset if by_reset else cut

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Break the connection; return when it is gone, as uvicorn reports an answer that stops before."""
        self._break(scope)
        await disconnected(receive)
