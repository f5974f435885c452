"""Whether deployments are up, before the first case is sent to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .attempt import explain_failure
from .errors import RemoteEvalsError
from .results import CaseError
from .targets import RemoteTarget, wait_until_ready


@dataclass(frozen=True, slots=True)
class Readiness:
    """How many seconds a deployment is waited for, 0 to ask it once, and the headers that its health must have."""

    wait_s: float
    expected_headers: Mapping[str, str] = field(default_factory=dict)


async def find_why_not_ready(target: RemoteTarget, readiness: Readiness) -> CaseError | None:
    """Wait for a deployment and return why it is not ready, None once it is."""
    try:
        await wait_until_ready(target, readiness.wait_s, readiness.expected_headers)
    except RemoteEvalsError as failure:
        return explain_failure(failure, target)
    return None
