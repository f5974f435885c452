"""One turn on the wire: the POST, its stream, and the run rebuilt from it as far as it came."""

import json
import time
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import aclosing
from typing import Any

import httpx

from ..errors import RemoteError
from ..rebuild import Rebuild
from ..redaction import Secret
from ..results import RunResult
from ..urls import show_url
from ._clocks import Clocks, Deadline, Limits
from ._failures import ended_early, ended_without_reason
from ._guard import run_guarded
from ._link import Link
from ._sse import EventDecoder
from ._status import read_failure
from ._trace import new_trace

_HEADERS = {
    "Accept": "text/event-stream",
    # A compressed stream is one that somebody buffers.
    "Accept-Encoding": "identity",
    "Cache-Control": "no-store",
    "Content-Type": "application/json",
}


class Exchange:
    """The requests of one turn, and the run that their answers make: a turn that pauses takes more than one.

    `result` is the run so far, whether or not `run` raised; `scrub` takes secrets out of what errors quote. All
    requests of a turn are in one trace.
    """

    def __init__(self, link: Link, turn: int, limits: Limits, scrub: Callable[[str], str]) -> None:
        self._link = link
        self._limits = limits
        self._scrub = scrub
        self._rebuild = Rebuild(turn, scrub)
        self._trace = new_trace()
        self._started = 0.0
        self._earlier_ms = 0.0
        self._headers_ms: float | None = None

    @property
    def result(self) -> RunResult:
        """The run as far as it was seen; the time between its requests is not its own."""
        return self._rebuild.result(
            total_ms=self._earlier_ms, headers_ms=self._headers_ms, trace_id=self._trace.trace_id
        )

    async def run(self, url: str, body: Mapping[str, Any], token: Secret | None, deadline: Deadline | None) -> None:
        """Send a request and read its stream through `run.done`. Raises `RemoteError`."""
        self._rebuild.resume()
        self._started = time.perf_counter()

        def read_last_event() -> str | None:
            return self._rebuild.last_event

        try:
            await run_guarded(lambda clocks: self._stream(url, body, token, clocks), url, deadline, read_last_event)
        finally:
            self._earlier_ms = self._elapsed_ms()

    async def _stream(
        self, url: str, body: Mapping[str, Any], token: Secret | None, clocks: Clocks
    ) -> RemoteError | None:
        clocks.start("headers", self._limits.headers_s)
        # ASCII, since a prompt may hold the lone surrogates that UTF-8 cannot.
        content = json.dumps(body).encode("ascii")
        headers = {**_HEADERS, "traceparent": self._trace.new_traceparent()}
        async with aclosing(await self._link.send("POST", url, headers, token, content)) as response:
            self._headers_ms = self._headers_ms or self._elapsed_ms()
            clocks.start("first event", self._limits.first_event_s)
            failure = await read_failure(response, show_url(url), self._scrub, clocks.left_s)
            # They are needed no more, and of thousands of open streams they are a part that counts.
            response.request.headers = httpx.Headers()
            return failure or await self._read(response, clocks)

    async def _read(self, response: httpx.Response, clocks: Clocks) -> RemoteError | None:
        rebuild, shown, decoder = self._rebuild, show_url(str(response.url)), EventDecoder(self._scrub)
        async for chunk in _chunks_of(response):
            at_ms = self._elapsed_ms()
            events = decoder.feed(chunk)
            for event in events:
                rebuild.add(event, at_ms)
                if rebuild.done:
                    # Whatever stands behind it, in this packet or the next, is not of the run.
                    return None if rebuild.done.finish_reason else ended_without_reason(shown)
            if decoder.mistake:
                raise decoder.mistake
            if events:
                clocks.start("silence", self._limits.silence_s)
        return ended_early(shown, rebuild.last_event)

    def _elapsed_ms(self) -> float:
        return self._earlier_ms + (time.perf_counter() - self._started) * 1000


def _chunks_of(response: httpx.Response) -> AsyncIterable[bytes]:
    """Return the body as it arrives; httpx's own iterators take more memory, so only a compressed one goes there."""
    if "content-encoding" in response.headers:
        return response.aiter_bytes()
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - an async client made it
    return response.stream
