"""The clocks of a turn. One timer serves them all: it is set for whichever would run out first.

httpx's own read timeout is no help here: it starts anew with every keep-alive comment.
"""

import asyncio
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Limits:
    """How long each wait may take, in seconds, `math.inf` for any time.

    `silence_s` is between two events, which keep-alives are not; `turn_s` is a whole turn, from its request to its end.
    """

    connect_s: float = 10.0
    headers_s: float = 60.0
    first_event_s: float = 60.0
    silence_s: float = 120.0
    turn_s: float = 600.0


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a turn or a case must be done, on the event loop's clock, and how many seconds it had."""

    name: str
    at: float
    limit_s: float

    def left_s(self) -> float:
        """Return the seconds that are left; `math.inf` for any."""
        return self.at - asyncio.get_running_loop().time()


def start_deadline(name: str, limit_s: float) -> Deadline:
    """Return the deadline of what begins now and may take so many seconds."""
    return Deadline(name, asyncio.get_running_loop().time() + limit_s, limit_s)


def earliest(of_case: Deadline | None, of_turn: Deadline) -> Deadline:
    """Return the deadline that comes first, that of the case where both are one."""
    return of_case if of_case and of_case.at <= of_turn.at else of_turn


@dataclass(frozen=True, slots=True)
class Timer:
    """A wait that is being timed: its name and its limit in seconds."""

    name: str
    limit_s: float


class TimerExpiredError(Exception):
    """A clock ran out; `clock` says which."""

    def __init__(self, clock: Timer) -> None:
        super().__init__(clock)
        self.clock = clock


class Timers:
    """An async context manager whose block is left with `TimerExpiredError` when the clock that runs is out."""

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
        """The seconds until the clock that runs is out."""
        at = self._timeout.when()
        return float("inf") if at is None else max(at - self._now(), 0.0)

    def start(self, name: str, limit_s: float) -> None:
        """Start this clock instead of the one that runs; the deadline keeps running beside it."""
        at = self._now() + limit_s
        if self._deadline and self._deadline.at <= at:
            name, limit_s, at = self._deadline.name, self._deadline.limit_s, self._deadline.at
        self._running = Timer(name, limit_s)
        self._timeout.reschedule(None if at == float("inf") else at)

    def stop(self) -> None:
        """Stop every clock, the deadline too: what was waited for is there."""
        self._timeout.reschedule(None)


class Stopwatch:
    """Measures a turn over all its requests, in milliseconds; what lies between them is not in it.

    `headers_ms` is when the first headers came, None before.
    """

    __slots__ = ("_before", "_started", "headers_ms", "total_ms")

    def __init__(self) -> None:
        self.total_ms = 0.0
        self.headers_ms: float | None = None
        self._before: tuple[float, float | None] = (0.0, None)
        self._started = 0.0

    def start(self) -> None:
        """Begin a request."""
        self._before = self.total_ms, self.headers_ms
        self._started = time.perf_counter()

    def now_ms(self) -> float:
        """Return how far the turn is, while a request goes on."""
        return self._before[0] + (time.perf_counter() - self._started) * 1000

    def request_s(self) -> float:
        """Return the seconds that the request under way takes so far."""
        return time.perf_counter() - self._started

    def note_headers(self) -> None:
        """Note that the headers of a request came."""
        if self.headers_ms is None:
            self.headers_ms = self.now_ms()

    def stop(self, at_ms: float | None) -> None:
        """End the request, now or at an earlier moment of it."""
        self.total_ms = self.now_ms() if at_ms is None else at_ms

    def take_back(self) -> None:
        """Forget the latest request."""
        self.total_ms, self.headers_ms = self._before
