"""The version of the distribution, in a file of its own so that `--version` imports nothing else."""

__version__ = "0.1.0"
