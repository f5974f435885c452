"""Reads the stream of one answer into a run, bounded in time, bytes and events."""

import asyncio
import typing
from collections.abc import AsyncIterator, Callable, Sequence

import httpx

from ..core.urls import show_url
from ..errors import RemoteError, RemoteStreamError
from ..protocols.base import Protocol
from ..protocols.events import Event
from ..protocols.run_builder import RunBuilder
from ..transport.failures import LIBRARY_ERRORS, WHY_BROKEN
from ..transport.limits import SizeLimits, Timers

# What follows the end of a run can only cause warnings.
MAX_END_S = 1.0


class StreamObserver(typing.Protocol):
    """Is shown every answer of a session's turns as it comes; times are milliseconds after the request was sent."""

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        """Take an answer whose headers have come and whose body is still to come; do not read it."""
        ...

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        """Take the events, perhaps none, that are complete with the bytes that came, and the comments so far."""
        ...


class StreamReader:
    """Reads one answer into a run; `done_ms` is when the end of the run came, by the clock `now_ms`.

    `scrub` removes secrets from what errors and warnings quote.
    """

    __slots__ = (
        *("_builder", "_events", "_now_ms", "_observer", "_protocol", "_reader", "_size", "_sizes", "_values"),
        "done_ms",
    )

    def __init__(
        self,
        builder: RunBuilder,
        protocol: Protocol,
        sizes: SizeLimits,
        scrub: Callable[[str], str],
        now_ms: Callable[[], float],
        observer: StreamObserver | None,
    ) -> None:
        self.done_ms: float | None = None
        self._builder = builder
        self._protocol = protocol
        self._sizes = sizes
        self._reader = protocol.open_reader(scrub, sizes.frame_bytes)
        self._now_ms = now_ms
        self._observer = observer
        self._size = self._events = self._values = 0

    async def read(self, response: httpx.Response, timers: Timers, silence_s: float) -> RemoteError | None:
        """Read the body through the end of the run; return what keeps it from being a complete run, or None."""
        shown, chunks = show_url(str(response.url)), _iterate_chunks(response)
        try:
            async for chunk in chunks:
                is_alive = self._take(chunk)
                if self._builder.done:
                    timers.stop()
                    await self._read_rest(chunks)
                    return self._judge_end(shown)
                if self._reader.problem:
                    raise self._reader.problem
                if excess := self._find_excess():
                    return explain_excess(shown, excess)
                if self._builder.is_over:
                    break
                if is_alive:
                    timers.start("silence", silence_s)
            self._reader.finish()
            return self._judge_end(shown)
        finally:
            self._check_encoding()

    def _take(self, chunk: bytes) -> bool:
        """Add the events of a chunk to the run and return whether one of them shows that the run is alive."""
        at_ms = self._now_ms()
        events = self._reader.feed(chunk)
        if self._observer:
            self._observer.on_events(events, self._reader.comments, at_ms)
        is_alive = False
        for event in events:
            is_alive |= self._builder.add(event, at_ms)
        if self.done_ms is None and self._builder.done:
            self.done_ms = at_ms
        self._size += len(chunk)
        self._values += chunk.count(b",") + chunk.count(b"[") + chunk.count(b"{")
        self._events += len(events)
        return is_alive

    def _find_excess(self) -> str | None:
        sizes = self._sizes
        if self._size > sizes.stream_bytes:
            return f"{sizes.stream_bytes // 2**20} MiB"
        if self._events > sizes.events:
            return f"{sizes.events:,} events"
        return f"{sizes.values:,} values in its events" if self._values > sizes.values else None

    async def _read_rest(self, chunks: AsyncIterator[bytes]) -> None:
        """See how the stream ends after the end of the run; nothing there changes the run."""
        end, how = self._protocol.end_event, "ended"
        try:
            async with asyncio.timeout(MAX_END_S):
                while not (self._builder.is_over or self._reader.problem or self._find_excess()):
                    self._take(await anext(chunks))
        except StopAsyncIteration:
            self._reader.finish()
        except TimeoutError:
            how = f"was still open {MAX_END_S:.0f}s"
        except LIBRARY_ERRORS:
            how = "broke off"
        if self._reader.problem:
            self._builder.order.warn("late", f"what came after {end} is wrong: {self._reader.problem}")
        elif self._protocol.closing_frame and not self._builder.is_over:
            self._builder.order.warn("end", f"the stream {how} after {end}, without {self._protocol.closing_frame}")

    def _judge_end(self, url: str) -> RemoteError | None:
        """Return what is wrong with a stream that came to its end, or None for a complete run."""
        done, end = self._builder.done, self._protocol.end_event
        if self._builder.order.is_ambiguous:
            return _explain_crossing(url)
        if done is None:
            return _explain_early_end(url, self._builder.last_event, end, mid_frame=self._reader.unfinished)
        if not done.finish_reason:
            advice = f"Check that the deployment speaks {self._protocol.title}"
            return RemoteStreamError(url, f"{end} came without a finish reason", advice)
        return None

    def _check_encoding(self) -> None:
        if (at := self._reader.invalid_utf8_at) is not None:
            text = f"byte {at} of the stream is not UTF-8; U+FFFD replaces what cannot be decoded"
            self._builder.order.warn("encoding", text)


def explain_excess(url: str, excess: str, *, what: str = "the stream") -> RemoteStreamError:
    """Return the error of an answer that exceeds a limit of size; `excess` is the limit with its unit."""
    advice = "No run is that long: look at what the deployment, or a proxy before it, keeps sending"
    return RemoteStreamError(url, f"{what} has more than {excess}", advice)


def _explain_early_end(url: str, last_event: str | None, end_event: str, *, mid_frame: bool) -> RemoteStreamError:
    after = f"after {last_event}" if last_event else "without any event"
    where = ", in the middle of a frame" if mid_frame else ""
    return RemoteStreamError(url, f"the stream ended {after}{where}, before {end_event}", WHY_BROKEN)


def _explain_crossing(url: str) -> RemoteStreamError:
    happened = "two runs came in one stream, and nothing tells which of them is the answer"
    advice = "A proxy may have crossed two answers: look at what stands before the agent"
    return RemoteStreamError(url, happened, advice)


def _iterate_chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    """Return the body as it arrives; httpx's own iterator takes more memory, so it reads only a compressed one."""
    if "content-encoding" in response.headers:
        return response.aiter_bytes()
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - an async client made it
    return aiter(response.stream)
