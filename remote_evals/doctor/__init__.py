"""Says whether a deployment is fit to be tested: a line a check, from its name to the agent's memory."""

from .access import Identities, make_identities
from .conversation import MemoryProbe
from .examine import examine
from .findings import CHECKS, Diagnosis, Finding, OnFindings
from .page import render_findings, render_head, render_json_page, render_verdict

__all__ = [
    "CHECKS",
    "Diagnosis",
    "Finding",
    "Identities",
    "MemoryProbe",
    "OnFindings",
    "examine",
    "make_identities",
    "render_findings",
    "render_head",
    "render_json_page",
    "render_verdict",
]
