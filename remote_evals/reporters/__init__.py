"""Renders an `EvalReport` in one format per module, shows progress, and writes reports to disk.

In: an `EvalReport`, first through `scrub_report`, so that no rendering contains a known secret, however it is cut.
Out: the report as text in a format of `REPORT_FORMATS` or for people; only `writing.py` writes to disk.
"""

from collections.abc import Callable

from ..core.text import escape_control_chars
from ..results import EvalReport
from .github import render_annotations
from .json_reader import parse_json_report
from .json_report import render_json_report
from .junit import render_junit
from .markdown import render_markdown
from .summary import print_summary, render_summary
from .terminal import LiveProgress, PlainProgress, QuietProgress, open_progress
from .writing import append_text, save_report, scrub_report, write_report

REPORT_FORMATS: dict[str, Callable[[EvalReport], str]] = {
    "json": render_json_report,
    "junit": render_junit,
    "markdown": render_markdown,
}
"""The formats that can be written to a file, by the name of their option and their setting."""

__all__ = [
    "REPORT_FORMATS",
    "LiveProgress",
    "PlainProgress",
    "QuietProgress",
    "append_text",
    "escape_control_chars",
    "open_progress",
    "parse_json_report",
    "print_summary",
    "render_annotations",
    "render_json_report",
    "render_junit",
    "render_markdown",
    "render_summary",
    "save_report",
    "scrub_report",
    "write_report",
]
