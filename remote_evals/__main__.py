"""`python -m remote_evals` is the command `remote-evals`."""

from .cli import main

if __name__ == "__main__":
    main()
