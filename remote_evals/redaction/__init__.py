"""Keeps credentials out of everything that leaves the process.

In: the secrets of a run (tokens, credential headers, passwords in URLs), and any text or report that may repeat them.
Out: the same text with every spelling of every secret replaced.
"""

from .redactor import REDACTED, Redactor, Secret

__all__ = ["REDACTED", "Redactor", "Secret"]
