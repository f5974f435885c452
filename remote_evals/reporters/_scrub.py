"""Scrubs a report as a whole, before any of it is cut, wrapped or escaped: half a secret is no longer recognised."""

from typing import Any

from pydantic import BaseModel

from ..redaction import Redactor
from ..results import EvalReport
from ._json_value import to_json_value


def scrub_report(report: EvalReport, redactor: Redactor) -> EvalReport:
    """Return the report with every string in it scrubbed, those inside JSON values too."""
    scrubbed: EvalReport = _scrub(report, redactor)
    return scrubbed


def _scrub(value: Any, redactor: Redactor) -> Any:
    match value:
        case BaseModel():
            return value.model_copy(update={name: _scrub(item, redactor) for name, item in value})
        case tuple():
            return tuple(_scrub(item, redactor) for item in value)
        case float():
            return value
        case _:
            return redactor.scrub_value(to_json_value(value))
