"""Where a suite's prompts go."""

from ._base import Session, Target
from ._clocks import Limits
from .local import LocalTarget, make_target
from .remote import RemoteTarget

__all__ = ["Limits", "LocalTarget", "RemoteTarget", "Session", "Target", "make_target"]
