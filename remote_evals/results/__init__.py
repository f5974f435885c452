"""What happened, as data only: the runs of a case, what was asserted of them, and the report of all cases.

Nothing here reads a wire, judges a reply or prints: a run rebuilt from a deployment's stream and one made in process
are the same `RunResult`, and every assertion and reporter works on that alone.
"""

from .case import AssertionResult, CaseError, EvalResult, JudgeUsage, Status, Verdict
from .report import CaseResult, EvalReport
from .run import Missing, PendingApproval, RunError, RunResult, Timing, ToolCall, Usage

__all__ = [
    "AssertionResult",
    "CaseError",
    "CaseResult",
    "EvalReport",
    "EvalResult",
    "JudgeUsage",
    "Missing",
    "PendingApproval",
    "RunError",
    "RunResult",
    "Status",
    "Timing",
    "ToolCall",
    "Usage",
    "Verdict",
]
