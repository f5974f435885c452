"""The command `remote-evals`: one command a file, which parses, builds, calls and prints, and holds no rules.

In: the arguments of the process, settings files and environment variables.
Out: text on stdout and stderr, reports on disk, and one of the exit codes of `exits`.
"""

import sys

from .._version import __version__


def main() -> None:
    """Run the command with the arguments of the process and exit with one of the codes of `exits`."""
    if sys.argv[1:] == ["--version"]:
        # Before the command line's own imports, which take longer than Python takes to start.
        print(f"remote-evals {__version__}")
        return
    try:
        from .app import app
        from .options import expand_save

        app(args=expand_save(sys.argv[1:]), prog_name="remote-evals")
    except KeyboardInterrupt:
        sys.exit(130)
