"""One turn over HTTP: its requests, their streams, and the run built from them as far as it came."""

from collections.abc import Callable
from contextlib import aclosing

import httpx

from ..core.urls import join_url, show_url
from ..errors import RemoteError
from ..protocols.base import Protocol, Request
from ..protocols.run_builder import RunBuilder
from ..redaction import Secret
from ..results import RunResult
from ..transport.client import HttpClient, new_trace
from ..transport.failures import translate_errors
from ..transport.limits import Deadline, Limits, SizeLimits, Stopwatch, Timers
from ..transport.responses import EVENT_STREAM, FailureReader, get_media_type
from .stream_reader import StreamObserver, StreamReader

# A gateway that gives up on an agent answers 503, as one does that turns a request away, but later.
SOON_S = 5.0

_HEADERS = {
    # A compressed stream is one that a proxy buffers.
    "Accept-Encoding": "identity",
    "Cache-Control": "no-store",
    "Content-Type": "application/json",
}


class Exchange:
    """The requests of one turn, all in one trace, and the run that their answers make up; a pause takes more than one.

    `result` is the run so far, whether or not `run` raised. `scrub` removes secrets from what errors quote.
    """

    def __init__(
        self,
        client: HttpClient,
        protocol: Protocol,
        turn: int,
        limits: Limits,
        sizes: SizeLimits,
        scrub: Callable[[str], str],
        observer: StreamObserver | None = None,
    ) -> None:
        self._client = client
        self._protocol = protocol
        self._limits = limits
        self._sizes = sizes
        self._scrub = scrub
        self._observer = observer
        self._builder = RunBuilder(protocol.open_order(scrub), turn, scrub)
        self._trace = new_trace()
        self._stopwatch = Stopwatch()
        self._reader: StreamReader | None = None
        self.retries = 0

    @property
    def result(self) -> RunResult:
        """The run so far; the time between its requests is not counted."""
        return self._builder.result(
            total_ms=self._stopwatch.total_ms,
            headers_ms=self._stopwatch.headers_ms,
            trace_id=self._trace.trace_id,
            retries=self.retries,
        )

    async def run(
        self,
        base_url: str,
        request: Request,
        token: Secret | None,
        deadline: Deadline,
        deciding: str | None = None,
    ) -> None:
        """Send a request and read its stream to the end. Raises `RemoteError`.

        `deciding` is the id of the approval that the request decides, if it does.
        """
        url = join_url(base_url, request.path)
        self._builder.begin_stream(deciding)
        self._stopwatch.start()
        self._reader = None
        try:
            await translate_errors(
                lambda timers: self._stream(url, request, token, timers),
                url,
                deadline,
                lambda: self._builder.last_event,
                at_first="before the first event",
            )
        finally:
            self._stopwatch.stop(self._reader.done_ms if self._reader else None)

    def count_retry(self) -> None:
        """Prepare to send the latest request again; the time of the failed attempt is not counted."""
        self._stopwatch.take_back()
        self.retries += 1

    async def _stream(self, url: str, request: Request, token: Secret | None, timers: Timers) -> RemoteError | None:
        timers.start("headers", self._limits.headers_s)
        headers = {"Accept": request.accept, **_HEADERS, "traceparent": self._trace.new_traceparent()}
        async with aclosing(await self._client.send(request.method, url, headers, token, request.content)) as response:
            self._stopwatch.record_headers()
            if self._observer:
                self._observer.on_headers(response, self._stopwatch.now_ms())
            timers.start("first event", self._limits.first_event_s)
            if failure := await self._read_failure(response, url, timers.left_s):
                return failure
            # They are needed no more, and with thousands of open streams their memory counts.
            response.request.headers = httpx.Headers()
            self._reader = StreamReader(
                self._builder, self._protocol, self._sizes, self._scrub, self._stopwatch.now_ms, self._observer
            )
            return await self._reader.read(response, timers, self._limits.silence_s)

    async def _read_failure(self, response: httpx.Response, url: str, left_s: float) -> RemoteError | None:
        is_late = self._stopwatch.request_s() > SOON_S
        protocol, shown = self._protocol, show_url(url)
        reader = FailureReader(shown, self._scrub, protocol.advise, protocol.read_refusal, self._sizes.quote_bytes)
        if failure := await reader.read(response, left_s):
            failure.may_have_begun = is_late or get_media_type(response) == EVENT_STREAM
        return failure
