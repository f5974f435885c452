"""Who is told how a run goes on, while it does."""

from .results import EvalResult


class Listener:
    """Is told how a run goes on; derive from it, and override what you want to hear."""

    def on_start(self, total: int) -> None:
        """Take the number of runs, once, before the first."""

    def on_wait(self, description: str) -> None:
        """Take the description of a deployment that is waited for before the first run."""

    def on_case_start(self, name: str) -> None:
        """Take the name of a run that begins."""

    def on_case_end(self, result: EvalResult) -> None:
        """Take the result of a run that is done."""
