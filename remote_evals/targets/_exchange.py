"""One turn on the wire: the POST, its stream, and the run rebuilt from it as far as it came."""

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import aclosing

import httpx

from ..errors import RemoteError
from ..rebuild import Rebuild
from ..redaction import Secret
from ..results import RunResult
from ..urls import show_url
from ._clocks import ClockExpiredError, Clocks, Deadline, Limits
from ._failures import LIBRARY_ERRORS, ended_early, forget_frames, timed_out, translate
from ._sse import read_events
from ._status import read_failure
from ._token import BearerAuth
from ._trace import new_trace

_HEADERS = {
    "Accept": "text/event-stream",
    # A compressed stream is one that somebody buffers.
    "Accept-Encoding": "identity",
    "Cache-Control": "no-store",
    "Content-Type": "application/json",
}


class Exchange:
    """A request and its answer. `run` may be called once; `result` is the run so far, whether or not that raised."""

    def __init__(self, client: httpx.AsyncClient, url: str, turn: int, limits: Limits) -> None:
        self._client = client
        self._url = url
        self._limits = limits
        self._rebuild = Rebuild(turn)
        self._trace = new_trace()
        self._started = time.perf_counter()
        self._headers_ms: float | None = None
        self._total_ms = 0.0

    @property
    def result(self) -> RunResult:
        """The run as far as it was seen."""
        return self._rebuild.result(total_ms=self._total_ms, headers_ms=self._headers_ms, trace_id=self._trace.trace_id)

    async def run(self, body: Mapping[str, str], token: Secret | None, deadline: Deadline | None) -> None:
        """Send the request and read its stream through `run.done`. Raises `RemoteError`."""
        self._started = time.perf_counter()
        try:
            failure = await self._attempt(body, token, deadline)
        except asyncio.CancelledError as cancelled:
            forget_frames(cancelled)
            raise
        finally:
            self._total_ms = self._elapsed_ms()
        if failure:
            # Raised here, where no frame below holds a header or what the server sent.
            raise failure.with_traceback(None)

    async def _attempt(
        self, body: Mapping[str, str], token: Secret | None, deadline: Deadline | None
    ) -> RemoteError | None:
        shown = show_url(self._url)
        try:
            async with Clocks(deadline) as clocks:
                return await self._stream(body, token, clocks)
        except ClockExpiredError as expired:
            return timed_out(expired.clock, shown, self._rebuild.last_event)
        except LIBRARY_ERRORS as error:
            failure = translate(error, shown, self._rebuild.last_event)
            failure.__cause__ = forget_frames(error)
            return failure

    async def _stream(self, body: Mapping[str, str], token: Secret | None, clocks: Clocks) -> RemoteError | None:
        clocks.start("headers", self._limits.headers_s)
        async with self._client.stream(
            "POST",
            self._url,
            # ASCII, since a prompt may hold the lone surrogates that UTF-8 cannot.
            content=json.dumps(body).encode("ascii"),
            headers={**_HEADERS, "traceparent": self._trace.traceparent},
            auth=BearerAuth(token) if token else None,
        ) as response:
            self._headers_ms = self._elapsed_ms()
            clocks.start("first event", self._limits.first_event_s)
            failure = await read_failure(response, show_url(self._url))
            return failure or await self._read(response, clocks)

    async def _read(self, response: httpx.Response, clocks: Clocks) -> RemoteError | None:
        rebuild = self._rebuild
        async with aclosing(read_events(response)) as batches:
            async for events in batches:
                at_ms = self._elapsed_ms()
                for event in events:
                    rebuild.add(event, at_ms)
                if rebuild.done:
                    return None
                clocks.start("silence", self._limits.silence_s)
        return ended_early(show_url(self._url), rebuild.last_event)

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self._started) * 1000
