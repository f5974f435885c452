"""What happened, as data only: the runs of a case, what was asserted of them, and the report of all cases.

Nothing here reads a wire, judges a reply or prints: a run rebuilt from a deployment's stream and one made in process
are the same `RunResult`, and every assertion and reporter works on that alone.
"""

from .case import ASSERTION_KEYS, AssertionKey, AssertionResult, CaseError, EvalResult, JudgeUsage, Status, Verdict
from .report import CaseResult, EvalReport
from .run import Missing, PendingApproval, RunError, RunResult, Timing, ToolCall, Usage, describe_end

__all__ = [
    "ASSERTION_KEYS",
    "AssertionKey",
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
    "describe_end",
]
