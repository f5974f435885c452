"""The command `remote-evals`, also as `python -m remote_evals`."""

import sys

from ._version import __version__


def main() -> None:
    """Run the command with the arguments of the process; exits with one of the codes of `cli/_exit.py`."""
    if sys.argv[1:] == ["--version"]:
        # Before the command line's own imports, which take longer than Python takes to start.
        print(f"remote-evals {__version__}")
        return
    try:
        from .cli import app, expand_save

        app(args=expand_save(sys.argv[1:]), prog_name="remote-evals")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
