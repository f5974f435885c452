"""One turn on the wire: the POST, its stream, and the run rebuilt from it as far as it came."""

import json
import time
from collections.abc import Mapping
from contextlib import aclosing

import httpx

from ..errors import RemoteStreamError
from ..rebuild import Rebuild
from ..redaction import Secret
from ..results import RunResult
from ..urls import show_url
from ._clocks import ClockExpiredError, Clocks, Deadline, Limits
from ._failures import LIBRARY_ERRORS, forget_frames, timed_out, translate
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
            async with Clocks(deadline) as clocks:
                await self._stream(body, token, clocks)
        except ClockExpiredError as expired:
            raise timed_out(expired.clock, show_url(self._url), self._rebuild.last_event) from None
        except LIBRARY_ERRORS as error:
            raise translate(error, show_url(self._url), self._rebuild.last_event) from forget_frames(error)
        finally:
            self._total_ms = self._elapsed_ms()

    async def _stream(self, body: Mapping[str, str], token: Secret | None, clocks: Clocks) -> None:
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
            if failure := await read_failure(response, show_url(self._url)):
                raise failure
            clocks.start("first event", self._limits.first_event_s)
            await self._read(response, clocks)

    async def _read(self, response: httpx.Response, clocks: Clocks) -> None:
        rebuild = self._rebuild
        async with aclosing(read_events(response)) as batches:
            async for events in batches:
                at_ms = self._elapsed_ms()
                for event in events:
                    rebuild.add(event, at_ms)
                if rebuild.done:
                    return
                clocks.start("silence", self._limits.silence_s)
        last = f"after {rebuild.last_event}" if rebuild.last_event else "without any event"
        raise RemoteStreamError(
            show_url(self._url),
            f"the stream ended {last}, before run.done",
            "The run was cut short by the deployment or a proxy: look for it in the deployment's logs",
        )

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self._started) * 1000
