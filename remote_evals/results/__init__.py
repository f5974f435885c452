"""What happened, as data only: runs, cases and the report of all cases.

In: runs read from a deployment's stream or made in process, and the assertions made on them.
Out: immutable models that assertions and reporters work on; nothing here reads a stream, judges a reply or prints.
"""

from .approvals import PendingApproval, PendingApprovals, SignIn
from .case import ASSERTION_KEYS, AssertionKey, AssertionResult, CaseError, EvalResult, JudgeUsage, Status, Verdict
from .report import CaseResult, EvalReport
from .run import (
    FINISH_REASONS,
    PAUSED,
    Missing,
    RunError,
    RunResult,
    Timing,
    ToolCall,
    Usage,
    describe_end,
)

__all__ = [
    "ASSERTION_KEYS",
    "FINISH_REASONS",
    "PAUSED",
    "AssertionKey",
    "AssertionResult",
    "CaseError",
    "CaseResult",
    "EvalReport",
    "EvalResult",
    "JudgeUsage",
    "Missing",
    "PendingApproval",
    "PendingApprovals",
    "RunError",
    "RunResult",
    "SignIn",
    "Status",
    "Timing",
    "ToolCall",
    "Usage",
    "Verdict",
    "describe_end",
]
