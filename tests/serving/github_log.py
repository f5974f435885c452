"""The log of a step on GitHub Actions, as the runner reads it."""

from collections.abc import Iterator


def find_commands(log: str) -> Iterator[str]:
    """Yield the lines that the runner takes as commands: none between `::stop-commands::` and its token."""
    token = None
    for line in log.replace("\r", "\n").split("\n"):
        text = line.strip()
        if token:
            token = None if text == f"::{token}::" else token
        elif text.startswith("::stop-commands::"):
            token = text.removeprefix("::stop-commands::")
        elif text.startswith("::"):
            yield text
