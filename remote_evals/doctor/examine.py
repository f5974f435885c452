"""Runs all checks in order, from the DNS name to access without a token; a failure ends those that depend on it."""

from ..errors import RemoteError
from ..targets import RemoteTarget, read_health
from .access import Identities, try_access
from .connection import connect
from .conversation import MemoryProbe, converse
from .findings import Diagnosis, FindingLog, OnFindings, passed, warned


async def examine(identities: Identities, probe: MemoryProbe, on_findings: OnFindings) -> Diagnosis:
    """Examine a deployment and return all findings; `on_findings` receives each as soon as it is made.

    Sends at most four turns, none of them twice. Raises `UsageError` for a proxy that cannot be used.
    """
    target = identities.as_given
    log = FindingLog(target.redactor, on_findings)
    if await connect(target, log):
        await _check_health(target, log)
        if await converse(target, probe, log):
            await try_access(identities, probe.first, log)
    return log.close(target.description)


async def _check_health(target: RemoteTarget, log: FindingLog) -> None:
    try:
        health = await read_health(target)
    except RemoteError as failure:
        log.add(warned("health", failure.happened, failure.advice, code=failure.code))
        return
    if health.failure:
        log.add(warned("health", health.failure.happened, health.failure.advice, status=health.status))
    else:
        values = {"status": health.status, "elapsed_ms": health.elapsed_ms}
        log.add(passed("health", f"GET /health answered {health.status}", **values))
