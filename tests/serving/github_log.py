"""The log of a step on GitHub Actions, as the runner reads it."""

from collections.abc import Iterator


def obeyed(log: str) -> Iterator[str]:
    """Yield the lines that the runner takes for commands, as it reads a log: none while a fence is open."""
    token = None
    for line in log.replace("\r", "\n").split("\n"):
        text = line.strip()
        if token:
            token = None if text == f"::{token}::" else token
        elif text.startswith("::stop-commands::"):
            token = text.removeprefix("::stop-commands::")
        elif text.startswith("::"):
            yield text
