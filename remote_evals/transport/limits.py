"""Limits of time and size, and the timers of a turn.

One timeout serves all timers of a turn: it is set for the one that would expire first. httpx's own read timeout is no
help, since it starts anew with every keep-alive comment.
"""

import asyncio
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each wait may take, in seconds; `math.inf` for no limit.

    `silence_s` is the time between two events, which keep-alives are not; `turn_s` is a whole turn, from its request to
    its end.
    """

    connect_s: float = 10.0
    headers_s: float = 60.0
    first_event_s: float = 60.0
    silence_s: float = 120.0
    turn_s: float = 600.0


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """How much a deployment's answer may hold.

    `frame_bytes`, `stream_bytes`, `events` and `values` (of JSON) bound one answer, `header_bytes` each of its headers,
    `quote_bytes` what is read of an error's body, and `transcript_bytes` a transcript.
    """

    frame_bytes: int = 16 * 1024 * 1024
    stream_bytes: int = 256 * 1024 * 1024
    events: int = 1_000_000
    # A byte of JSON may take 25 bytes of memory, if it is all brackets.
    values: int = 16_000_000
    header_bytes: int = 64 * 1024
    quote_bytes: int = 64 * 1024
    transcript_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time on the event loop's clock at which a turn or a case must be done, and the seconds it was given."""

    name: str
    at: float
    limit_s: float

    def left_s(self) -> float:
        """Return the seconds that are left; `math.inf` for no limit."""
        return self.at - asyncio.get_running_loop().time()


def start_deadline(name: str, limit_s: float) -> Deadline:
    """Return the deadline of something that begins now and may take `limit_s` seconds."""
    return Deadline(name, asyncio.get_running_loop().time() + limit_s, limit_s)


def earliest(of_case: Deadline | None, of_turn: Deadline) -> Deadline:
    """Return the earlier deadline; that of the case if both are equal."""
    return of_case if of_case and of_case.at <= of_turn.at else of_turn


@dataclass(frozen=True, slots=True)
class Timer:
    """A wait that is timed: its name and its limit in seconds."""

    name: str
    limit_s: float


class TimerExpiredError(Exception):
    """A timer expired; `timer` is which."""

    def __init__(self, timer: Timer) -> None:
        super().__init__(timer)
        self.timer = timer


class Timers:
    """An async context manager that leaves its block with `TimerExpiredError` when the running timer expires."""

    def __init__(self, deadline: Deadline | None = None) -> None:
        self._running = Timer("", 0.0)
        self._deadline = deadline
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> Self:
        self._now = asyncio.get_running_loop().time
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, traceback)
        except TimeoutError:
            raise TimerExpiredError(self._running) from None

    @property
    def left_s(self) -> float:
        """The seconds until the running timer expires."""
        at = self._timeout.when()
        return float("inf") if at is None else max(at - self._now(), 0.0)

    def start(self, name: str, limit_s: float) -> None:
        """Start this timer in place of the running one; the deadline keeps running beside it."""
        at = self._now() + limit_s
        if self._deadline and self._deadline.at <= at:
            name, limit_s, at = self._deadline.name, self._deadline.limit_s, self._deadline.at
        self._running = Timer(name, limit_s)
        self._timeout.reschedule(None if at == float("inf") else at)

    def stop(self) -> None:
        """Stop the timer and the deadline: what was awaited is there."""
        self._timeout.reschedule(None)


class Stopwatch:
    """Measures a turn over all its requests, in milliseconds, without the time between them.

    `headers_ms` is when the first headers came, or None.
    """

    __slots__ = ("_before", "_started", "headers_ms", "total_ms")

    def __init__(self) -> None:
        self.total_ms = 0.0
        self.headers_ms: float | None = None
        self._before: tuple[float, float | None] = (0.0, None)
        self._started = 0.0

    def start(self) -> None:
        """Start a request."""
        self._before = self.total_ms, self.headers_ms
        self._started = time.perf_counter()

    def now_ms(self) -> float:
        """Return the time of the turn so far, during a request."""
        return self._before[0] + (time.perf_counter() - self._started) * 1000

    def request_s(self) -> float:
        """Return the seconds that the current request has taken so far."""
        return time.perf_counter() - self._started

    def record_headers(self) -> None:
        """Record that the headers of a request came."""
        if self.headers_ms is None:
            self.headers_ms = self.now_ms()

    def stop(self, at_ms: float | None) -> None:
        """End the request, now or at an earlier moment."""
        self.total_ms = self.now_ms() if at_ms is None else at_ms

    def take_back(self) -> None:
        """Forget the latest request."""
        self.total_ms, self.headers_ms = self._before
