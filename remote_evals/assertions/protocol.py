"""What was odd in the protocol of a run, as failed gates."""

from ..results import AssertionResult, RunResult
from ._result import judged


def protocol_kept(run: RunResult) -> list[AssertionResult]:
    """Return a failed gate for each of the run's warnings, none for a run that kept to the protocol."""
    found = [judged("protocol", "protocol", False, warning) for warning in run.warnings]
    told = {"turn": run.turn}
    return [one.model_copy(update={**told, "message": f"turn {run.turn}: {one.message}"}) for one in found]
