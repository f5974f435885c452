"""Evals for deployed AI agents: they check that a deployment still calls the right tools and gives the right answers.

Every name here is imported on first use, so that `remote-evals --version` and an idle pytest plugin stay fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .config.deployments import JudgeSettings, TargetOptions, TargetSettings, target_builder
    from .errors import (
        JudgeError,
        JudgeUnparseableError,
        JudgeUnreachableError,
        NotReadyError,
        RemoteError,
        RemoteEvalsError,
        RemoteRequestFailedError,
        RemoteStatusError,
        RemoteStreamError,
        RemoteTimeoutError,
        RemoteUnauthorizedError,
        RemoteUnreachableError,
        SettingsError,
        SuiteError,
        TokenSourceError,
        UsageError,
    )
    from .evals.assertions.methods import Assertions
    from .evals.assertions.values import Check, at_least, at_most, equals, includes, matches
    from .evals.context import EvalContext
    from .evals.define import EvalDefinition, define_eval
    from .evals.eval import Eval
    from .judging import Judge, LLMJudge, parse_judge_score
    from .redaction import Redactor, Secret
    from .reporters import render_json_report, render_junit, render_summary, write_report
    from .results import (
        AssertionResult,
        CaseError,
        CaseResult,
        EvalReport,
        EvalResult,
        JudgeUsage,
        PendingApproval,
        PendingApprovals,
        RunError,
        RunResult,
        SignIn,
        Timing,
        ToolCall,
        Usage,
        Verdict,
    )
    from .results.report import Listener
    from .running.runner import EvalRunner
    from .running.workers import Readiness
    from .suites.eval_case import EvalCase, Turn
    from .suites.loading import LoadedCode, LoadedSuite, load_suites, make_evals
    from .suites.suite import Suite
    from .targets import Limits, LocalTarget, RemoteTarget, Session, Target, make_target, wait_until_ready

_HOMES = {
    ".config.deployments": (
        "JudgeSettings",
        "TargetOptions",
        "TargetSettings",
        "target_builder",
    ),
    ".errors": (
        "JudgeError",
        "JudgeUnparseableError",
        "JudgeUnreachableError",
        "NotReadyError",
        "RemoteError",
        "RemoteEvalsError",
        "RemoteRequestFailedError",
        "RemoteStatusError",
        "RemoteStreamError",
        "RemoteTimeoutError",
        "RemoteUnauthorizedError",
        "RemoteUnreachableError",
        "SettingsError",
        "SuiteError",
        "TokenSourceError",
        "UsageError",
    ),
    ".evals.assertions.methods": ("Assertions",),
    ".evals.assertions.values": (
        "Check",
        "at_least",
        "at_most",
        "equals",
        "includes",
        "matches",
    ),
    ".evals.context": ("EvalContext",),
    ".evals.define": (
        "EvalDefinition",
        "define_eval",
    ),
    ".evals.eval": ("Eval",),
    ".judging": (
        "Judge",
        "LLMJudge",
        "parse_judge_score",
    ),
    ".redaction": (
        "Redactor",
        "Secret",
    ),
    ".reporters": (
        "render_json_report",
        "render_junit",
        "render_summary",
        "write_report",
    ),
    ".results": (
        "AssertionResult",
        "CaseError",
        "CaseResult",
        "EvalReport",
        "EvalResult",
        "JudgeUsage",
        "PendingApproval",
        "PendingApprovals",
        "RunError",
        "RunResult",
        "SignIn",
        "Timing",
        "ToolCall",
        "Usage",
        "Verdict",
    ),
    ".results.report": ("Listener",),
    ".running.runner": ("EvalRunner",),
    ".running.workers": ("Readiness",),
    ".suites.eval_case": (
        "EvalCase",
        "Turn",
    ),
    ".suites.loading": (
        "LoadedCode",
        "LoadedSuite",
        "load_suites",
        "make_evals",
    ),
    ".suites.suite": ("Suite",),
    ".targets": (
        "Limits",
        "LocalTarget",
        "RemoteTarget",
        "Session",
        "Target",
        "make_target",
        "wait_until_ready",
    ),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AssertionResult",
    "Assertions",
    "CaseError",
    "CaseResult",
    "Check",
    "Eval",
    "EvalCase",
    "EvalContext",
    "EvalDefinition",
    "EvalReport",
    "EvalResult",
    "EvalRunner",
    "Judge",
    "JudgeError",
    "JudgeSettings",
    "JudgeUnparseableError",
    "JudgeUnreachableError",
    "JudgeUsage",
    "LLMJudge",
    "Limits",
    "Listener",
    "LoadedCode",
    "LoadedSuite",
    "LocalTarget",
    "NotReadyError",
    "PendingApproval",
    "PendingApprovals",
    "Readiness",
    "Redactor",
    "RemoteError",
    "RemoteEvalsError",
    "RemoteRequestFailedError",
    "RemoteStatusError",
    "RemoteStreamError",
    "RemoteTarget",
    "RemoteTimeoutError",
    "RemoteUnauthorizedError",
    "RemoteUnreachableError",
    "RunError",
    "RunResult",
    "Secret",
    "Session",
    "SettingsError",
    "SignIn",
    "Suite",
    "SuiteError",
    "Target",
    "TargetOptions",
    "TargetSettings",
    "Timing",
    "TokenSourceError",
    "ToolCall",
    "Turn",
    "Usage",
    "UsageError",
    "Verdict",
    "__version__",
    "at_least",
    "at_most",
    "define_eval",
    "equals",
    "includes",
    "load_suites",
    "make_evals",
    "make_target",
    "matches",
    "parse_judge_score",
    "render_json_report",
    "render_junit",
    "render_summary",
    "target_builder",
    "wait_until_ready",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
