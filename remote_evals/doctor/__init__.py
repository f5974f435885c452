"""Examines whether a deployment is fit to be tested, from its DNS name to the agent's memory.

In: a deployment's options and credentials.
Out: a `Diagnosis` of `Finding`s, and its rendering as text or JSON.
"""

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
