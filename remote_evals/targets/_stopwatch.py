"""The time of a turn, which may take several requests."""

import time


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
