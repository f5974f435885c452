"""Says whether a deployment is fit to be tested: a line a check, from its name to the agent's memory."""

from ._callers import Callers, make_callers
from ._dialogue import Dialogue
from ._examine import examine
from ._finding import CHECKS, Checkup, Finding
from ._journal import OnFindings
from .json_page import render_json_page
from .page import render_findings, render_head, render_verdict

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
