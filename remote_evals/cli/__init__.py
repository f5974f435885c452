"""The command `remote-evals`: parses options, runs a command and prints; what is decided, other rooms decide.

In: the process's arguments, settings files and environment variables.
Out: text on stdout and stderr, reports on disk, and one of the exit codes in `exits`.
"""

import sys

from .._version import __version__


def main() -> None:
    """Run the command with the process's arguments and exit with one of the codes in `exits`."""
    if sys.argv[1:] == ["--version"]:
        # Before the imports below, which take longer than starting Python.
        print(f"remote-evals {__version__}")
        return
    try:
        from .app import app
        from .options import expand_save

        app(args=expand_save(sys.argv[1:]), prog_name="remote-evals")
    except KeyboardInterrupt:
        sys.exit(130)
