"""Where a suite's prompts go."""

from ._base import Session, Target
from ._clocks import Limits
from ._health import Health, read_health
from ._readiness import wait_until_ready
from .local import LocalTarget, make_target
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
