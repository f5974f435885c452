"""The command line: one command a file. Each parses, builds, calls, prints and exits; it holds no rules."""

from ._app import app

__all__ = ["app"]
