"""Says whether a deployment is fit to be tested: a line a check, from its name to the agent's memory."""

from .access import Callers, make_callers
from .conversation import Dialogue
from .examine import examine
from .findings import CHECKS, Checkup, Finding, OnFindings
from .page import render_findings, render_head, render_json_page, render_verdict

__all__ = [
    "CHECKS",
    "Callers",
    "Checkup",
    "Dialogue",
    "Finding",
    "OnFindings",
    "examine",
    "make_callers",
    "render_findings",
    "render_head",
    "render_json_page",
    "render_verdict",
]
