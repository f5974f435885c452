"""Deployments that are waited for, before the first case is sent to them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .case_errors import explain_failure
from .errors import RemoteEvalsError
from .results.report import Listener
from .stop_conditions import StopConditions
from .targets import RemoteTarget, Target, wait_until_ready


@dataclass(frozen=True, slots=True)
class Readiness:
    """How many seconds a deployment is waited for, 0 to ask it once, and the headers that its health must have."""

    wait_s: float
    expected_headers: Mapping[str, str] = field(default_factory=dict)


async def wait_for_targets(
    targets: Sequence[Target], readiness: Readiness, stops: StopConditions, listener: Listener
) -> None:
    """Wait until the deployments among the targets are ready; of one that does not become so, nothing is begun."""
    async with asyncio.TaskGroup() as group:
        for target in targets:
            if isinstance(target, RemoteTarget):
                group.create_task(_wait_for(target, readiness, stops, listener))


async def _wait_for(target: RemoteTarget, readiness: Readiness, stops: StopConditions, listener: Listener) -> None:
    listener.on_wait(target.description)
    try:
        await wait_until_ready(target, readiness.wait_s, readiness.expected_headers)
    except RemoteEvalsError as failure:
        stops.stop_target(target, explain_failure(failure, target))
