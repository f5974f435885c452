"""One turn on the wire: the POST, its stream, and the run rebuilt from it as far as it came."""

import json
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any

import httpx

from ..core.urls import show_url
from ..errors import RemoteError
from ..protocols.run_builder import RunBuilder
from ..redaction import Secret
from ..results import RunResult
from ..transport.client import HttpClient, new_trace
from ..transport.failures import translate_errors
from ..transport.limits import Deadline, Limits, Stopwatch, Timers
from ..transport.responses import is_event_stream, read_failure
from .stream_reader import StreamObserver, StreamReader

# A gateway that gives up on an agent answers 503, as one that turns a request away, but not so soon.
SOON_S = 5.0

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

    def __init__(
        self,
        link: HttpClient,
        turn: int,
        limits: Limits,
        scrub: Callable[[str], str],
        observer: StreamObserver | None = None,
    ) -> None:
        self._link = link
        self._limits = limits
        self._scrub = scrub
        self._observer = observer
        self._rebuild = RunBuilder(turn, scrub)
        self._trace = new_trace()
        self._stopwatch = Stopwatch()
        self._reading: StreamReader | None = None
        self.retries = 0

    @property
    def result(self) -> RunResult:
        """The run as far as it was seen; the time between its requests is not its own."""
        return self._rebuild.result(
            total_ms=self._stopwatch.total_ms,
            headers_ms=self._stopwatch.headers_ms,
            trace_id=self._trace.trace_id,
            retries=self.retries,
        )

    async def run(self, url: str, body: Mapping[str, Any], token: Secret | None, deadline: Deadline) -> None:
        """Send a request and read its stream to its end. Raises `RemoteError`."""
        self._rebuild.begin_stream()
        self._stopwatch.start()
        self._reading = None

        def read_last_event() -> str | None:
            return self._rebuild.last_event

        try:
            await translate_errors(
                lambda clocks: self._stream(url, body, token, clocks),
                url,
                deadline,
                read_last_event,
                at_first="before the first event",
            )
        finally:
            self._stopwatch.stop(self._reading.done_ms if self._reading else None)

    def count_retry(self) -> None:
        """Make ready to send the latest request once more; what it took in vain is not in the run's time."""
        self._stopwatch.take_back()
        self.retries += 1

    async def _stream(
        self, url: str, body: Mapping[str, Any], token: Secret | None, clocks: Timers
    ) -> RemoteError | None:
        clocks.start("headers", self._limits.headers_s)
        # ASCII, since a prompt may hold the lone surrogates that UTF-8 cannot.
        content = json.dumps(body).encode("ascii")
        headers = {**_HEADERS, "traceparent": self._trace.new_traceparent()}
        async with aclosing(await self._link.send("POST", url, headers, token, content)) as response:
            self._stopwatch.note_headers()
            if self._observer:
                self._observer.on_headers(response, self._stopwatch.now_ms())
            clocks.start("first event", self._limits.first_event_s)
            is_late = self._stopwatch.request_s() > SOON_S
            failure = await read_failure(response, show_url(url), self._scrub, clocks.left_s)
            if failure:
                failure.may_have_begun = is_late or is_event_stream(response)
            # They are needed no more, and of thousands of open streams they are a part that counts.
            response.request.headers = httpx.Headers()
            self._reading = StreamReader(self._rebuild, self._scrub, self._stopwatch.now_ms, self._observer)
            return failure or await self._reading.read(response, clocks, self._limits.silence_s)
