"""A listener for runs."""

from collections.abc import Callable

from remote_evals import EvalResult, Listener


class Notes(Listener):
    """A listener that records every call, and calls `at_first_end` when the first case ends."""

    def __init__(self, at_first_end: Callable[[], None] = lambda: None) -> None:
        self.calls: list[str] = []
        self._at_first_end = at_first_end

    def on_start(self, total: int) -> None:
        self.calls.append(f"start {total}")

    def on_wait(self, description: str) -> None:
        self.calls.append(f"wait {description}")

    def on_case_start(self, name: str) -> None:
        self.calls.append(f"+{name}")

    def on_case_end(self, result: EvalResult) -> None:
        self.calls.append(f"-{result.name} {result.status}")
        self._at_first_end()
        self._at_first_end = lambda: None
