"""A check-up from the first look at the name to the last turn; each step is made where it can tell something."""

from ..errors import RemoteError
from ..targets import RemoteTarget, read_health
from .access import Callers, try_access
from .connection import connect
from .conversation import Dialogue, converse
from .findings import Checkup, Journal, OnFindings, passed, warned


async def examine(callers: Callers, dialogue: Dialogue, on_findings: OnFindings) -> Checkup:
    """Look at a deployment and return all findings; `on_findings` gets them as soon as they are there.

    At most four turns are sent, none of them twice. Raises `UsageError` for a proxy that cannot be used.
    """
    target = callers.as_given
    journal = Journal(target.redactor, on_findings)
    if await connect(target, callers.as_given.tls, journal):
        await _ask_health(target, journal)
        if await converse(target, dialogue, journal):
            await try_access(callers, dialogue.first, journal)
    return journal.close(target.description)


async def _ask_health(target: RemoteTarget, journal: Journal) -> None:
    try:
        health = await read_health(target)
    except RemoteError as failure:
        journal.add(warned("health", failure.happened, failure.advice, code=failure.code))
        return
    if health.failure:
        journal.add(warned("health", health.failure.happened, health.failure.advice, status=health.status))
    else:
        values = {"status": health.status, "elapsed_ms": health.elapsed_ms}
        journal.add(passed("health", f"GET /health answered {health.status}", **values))
