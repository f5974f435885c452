"""Where a suite's prompts go."""

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
