"""Who answers prompts: a deployment over HTTP, an agent in this process, or an ASGI app.

In: a prompt or a decision, in one session per case.
Out: the `RunResult` of the turn, or a `RemoteError` with as much of it as came.
"""

from ..transport.limits import Limits
from .base import Session, Target
from .local import LocalTarget, make_target
from .readiness import Health, read_health, wait_until_ready
from .remote import RemoteTarget

__all__ = [
    "Health",
    "Limits",
    "LocalTarget",
    "RemoteTarget",
    "Session",
    "Target",
    "make_target",
    "read_health",
    "wait_until_ready",
]
