"""Where a suite's prompts go."""

from ._base import Session, Target
from ._clocks import Limits
from .remote import RemoteTarget

__all__ = ["Limits", "RemoteTarget", "Session", "Target"]
