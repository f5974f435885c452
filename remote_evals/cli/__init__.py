"""The command line: one command a file. Each parses, builds, calls, prints and exits; it holds no rules."""

from ._app import app
from ._options import expand_save

__all__ = ["app", "expand_save"]
