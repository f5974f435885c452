"""Who looks on while a turn is read."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

import httpx

from ..core.urls import show_url
from ..errors import RemoteError, RemoteStreamError
from ..protocols.chat.parsing import EventDecoder
from ..protocols.events import Event
from ..protocols.run_builder import RunBuilder
from ..transport.failures import LIBRARY_ERRORS, WHY_BROKEN
from ..transport.limits import Timers


class StreamObserver(Protocol):
    """Is shown every answer to the POSTs of a session as it comes; moments are milliseconds after the POST was sent."""

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        """Take an answer whose headers are there and whose body is still to come; it must not be read."""
        ...

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        """Take the events that are whole with the bytes that came, none perhaps, and how many comments came by now."""
        ...


def ended_early(url: str, last_event: str | None, *, mid_frame: bool) -> RemoteStreamError:
    """Return the error of a stream that ended well-formed, but before `run.done`; `mid_frame` says where."""
    after = f"after {last_event}" if last_event else "without any event"
    where = ", in the middle of a frame" if mid_frame else ""
    return RemoteStreamError(url, f"the stream ended {after}{where}, before run.done", WHY_BROKEN)


def too_large(url: str, excess: str, *, what: str = "the stream") -> RemoteStreamError:
    """Return the error of an answer that goes on beyond all bounds; `excess` is what it has more of."""
    advice = "No run is that long: look at what the deployment, or a proxy before it, keeps sending"
    return RemoteStreamError(url, f"{what} has more than {excess}", advice)


def crossed(url: str) -> RemoteStreamError:
    """Return the error of a stream of two runs, of which nobody can tell which was asked for."""
    happened = "two runs came in one stream, and nothing tells which of them is the answer"
    return RemoteStreamError(
        url, happened, "A proxy may have crossed two answers: look at what stands before the agent"
    )


def ended_without_reason(url: str) -> RemoteStreamError:
    """Return the error of a `run.done` that does not say how the run ended, as that of another protocol would not."""
    advice = "Check that the deployment speaks the /chat protocol"
    return RemoteStreamError(url, "run.done came without a finishReason", advice)


MAX_STREAM_BYTES = 256 * 1024 * 1024
MAX_EVENTS = 1_000_000
# Of JSON: a byte of it may take 25 of memory, where it is all brackets.
MAX_VALUES = 16_000_000

# What is behind `run.done` is only looked at for what is odd.
MAX_END_S = 1.0


class StreamReader:
    """One answer that is being read; `done_ms` is when its `run.done` came, by the clock `now_ms`.

    `scrub` takes secrets out of what errors and warnings quote.
    """

    __slots__ = ("_decoder", "_events", "_now_ms", "_observer", "_rebuild", "_size", "_values", "done_ms")

    def __init__(
        self,
        rebuild: RunBuilder,
        scrub: Callable[[str], str],
        now_ms: Callable[[], float],
        observer: StreamObserver | None,
    ) -> None:
        self.done_ms: float | None = None
        self._rebuild = rebuild
        self._decoder = EventDecoder(scrub)
        self._now_ms = now_ms
        self._observer = observer
        self._size = self._events = self._values = 0

    async def read(self, response: httpx.Response, clocks: Timers, silence_s: float) -> RemoteError | None:
        """Read the body through `run.done` and see how it ends; return what keeps it from being a whole run."""
        shown, chunks = show_url(str(response.url)), _chunks_of(response)
        try:
            async for chunk in chunks:
                is_alive = self._take(chunk)
                if done := self._rebuild.done:
                    clocks.stop()
                    await self._read_on(chunks)
                    if self._rebuild.protocol.is_ambiguous:
                        return crossed(shown)
                    return None if done.finish_reason else ended_without_reason(shown)
                if self._decoder.mistake:
                    raise self._decoder.mistake
                if excess := self._find_excess():
                    return too_large(shown, excess)
                if self._rebuild.is_over:
                    break
                if is_alive:
                    clocks.start("silence", silence_s)
            self._decoder.finish()
            if self._rebuild.protocol.is_ambiguous:
                return crossed(shown)
            return ended_early(shown, self._rebuild.last_event, mid_frame=self._decoder.unfinished)
        finally:
            self._note_bytes()

    def _take(self, chunk: bytes) -> bool:
        """Fold the events of a chunk in, and say whether the run gave a sign of life."""
        at_ms = self._now_ms()
        events = self._decoder.feed(chunk)
        if self._observer:
            self._observer.on_events(events, self._decoder.comments, at_ms)
        is_alive = False
        for event in events:
            is_alive |= self._rebuild.add(event, at_ms)
        if self.done_ms is None and self._rebuild.done:
            self.done_ms = at_ms
        self._size += len(chunk)
        self._values += chunk.count(b",") + chunk.count(b"[") + chunk.count(b"{")
        self._events += len(events)
        return is_alive

    def _find_excess(self) -> str | None:
        if self._size > MAX_STREAM_BYTES:
            return f"{MAX_STREAM_BYTES // 2**20} MiB"
        if self._events > MAX_EVENTS:
            return f"{MAX_EVENTS:,} events"
        return f"{MAX_VALUES:,} values in its events" if self._values > MAX_VALUES else None

    async def _read_on(self, chunks: AsyncIterator[bytes]) -> None:
        """See how the stream ends behind `run.done`; nothing there changes the run."""
        how = "ended after run.done"
        try:
            async with asyncio.timeout(MAX_END_S):
                while not (self._rebuild.is_over or self._decoder.mistake or self._find_excess()):
                    self._take(await anext(chunks))
        except StopAsyncIteration:
            self._decoder.finish()
        except TimeoutError:
            how = f"was still open {MAX_END_S:.0f}s after run.done"
        except LIBRARY_ERRORS:
            how = "broke off after run.done"
        if self._decoder.mistake:
            self._rebuild.protocol.note("late", f"what came after run.done is wrong: {self._decoder.mistake}")
        elif not self._rebuild.is_over:
            self._rebuild.protocol.note("end", f"the stream {how}, without `event: done`")

    def _note_bytes(self) -> None:
        if (at := self._decoder.invalid_utf8_at) is not None:
            text = f"byte {at} of the stream is not UTF-8; U+FFFD stands for what is not"
            self._rebuild.protocol.note("encoding", text)


def _chunks_of(response: httpx.Response) -> AsyncIterator[bytes]:
    """Return the body as it arrives; httpx's own iterators take more memory, so only a compressed one goes there."""
    if "content-encoding" in response.headers:
        return response.aiter_bytes()
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - an async client made it
    return aiter(response.stream)
