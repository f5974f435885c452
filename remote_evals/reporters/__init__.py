"""Reporters: each renders an `EvalReport` in one format; `write_report` alone writes to disk.

`scrub_report` comes first: what is rendered from its result holds no known secret, however it is cut or escaped.
"""

from ._scrub import scrub_report
from ._terminal import LiveProgress, PlainProgress, QuietProgress, open_progress
from ._visible import show_line
from ._write import write_report
from .json_report import render_json_report
from .junit import render_junit
from .summary import print_summary, render_summary

__all__ = [
    "LiveProgress",
    "PlainProgress",
    "QuietProgress",
    "open_progress",
    "print_summary",
    "render_json_report",
    "render_junit",
    "render_summary",
    "scrub_report",
    "show_line",
    "write_report",
]
