"""Scrubs a report as a whole, before any of it is cut, wrapped or escaped: half a secret is no longer recognised.

A secret may read like a word of ours, or of the protocol: where only such words can stand they stay, since a report
that says `[redacted]` instead of "error" or REMOTE_STATUS hides nothing and is read wrong.
"""

import re
from typing import Any

from pydantic import BaseModel

from ..core.json_values import to_json_value
from ..redaction import Redactor
from ..results import AssertionResult, CaseError, EvalReport, RunResult

_WORDS = {"status", "kind", "outcome", "missing"}
_CODE = re.compile("[A-Z]+(_[A-Z]+)*")
_FINISH_REASONS = {
    *("stop", "length", "max-steps", "awaiting-approval", "aborted", "error", "budget-exceeded", "guardrail"),
    *("output-invalid", "content-filter"),
}
# The stable keys of assertions, as far as they are fixed: what is behind a colon is somebody's text.
_KEYS = {
    *("completed", "finish_reason", "approve", "reject", "answer", "protocol", "rubric"),
    *("tool_called", "tool_not_called", "tool_sequence", "output_contains", "output_not_contains", "output_matches"),
    *("within_iteration_budget", "within_token_budget", "within_cost_budget", "within_duration_budget"),
    "within_first_text_budget",
}


def scrub_report(report: EvalReport, redactor: Redactor) -> EvalReport:
    """Return the report with every free text in it scrubbed, those inside JSON values too."""
    scrubbed: EvalReport = _scrub(report, redactor)
    return scrubbed


def _scrub(value: Any, redactor: Redactor) -> Any:
    match value:
        case BaseModel():
            fields = {name: _scrub_field(value, name, item, redactor) for name, item in value if name not in _WORDS}
            return value.model_copy(update=fields)
        case tuple():
            return tuple(_scrub(item, redactor) for item in value)
        case int() | float():
            return value
        case _:
            return redactor.scrub_value(to_json_value(value))


def _scrub_field(model: BaseModel, name: str, value: Any, redactor: Redactor) -> Any:
    match model, name:
        case CaseError(), "code" if _CODE.fullmatch(value):
            return value
        case RunResult(), "finish_reason" if value in _FINISH_REASONS:
            return value
        case AssertionResult(), "key":
            word, colon, text = value.partition(":")
            return f"{word}{colon}{redactor.scrub(text)}" if word in _KEYS else redactor.scrub(value)
    return _scrub(value, redactor)
