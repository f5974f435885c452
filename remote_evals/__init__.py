"""Evals for deployed AI agents: whether a deployment still calls the right tools and says the right thing.

Everything here is imported on first use, so that `remote-evals --version` and plugins that only look stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .cases import EvalCase, Turn
    from .checks import Check, at_least, at_most, equals, includes, matches
    from .context import EvalContext
    from .errors import (
        RemoteError,
        RemoteEvalsError,
        RemoteRequestFailedError,
        RemoteStatusError,
        RemoteStreamError,
        RemoteTimeoutError,
        RemoteUnauthorizedError,
        RemoteUnreachableError,
        SuiteError,
        TokenSourceError,
        UsageError,
    )
    from .evals import Eval
    from .loading import load_suites, make_evals
    from .redaction import Redactor, Secret
    from .reporters import render_json_report, render_junit, render_summary, write_report
    from .results import AssertionResult, EvalReport, EvalResult, RunResult, Timing, ToolCall, Usage
    from .runner import EvalRunner, Listener
    from .targets import Limits, RemoteTarget, Session, Target

_HOMES = {
    ".cases": ("EvalCase", "Turn"),
    ".checks": ("Check", "at_least", "at_most", "equals", "includes", "matches"),
    ".context": ("EvalContext",),
    ".errors": (
        "RemoteError",
        "RemoteEvalsError",
        "RemoteRequestFailedError",
        "RemoteStatusError",
        "RemoteStreamError",
        "RemoteTimeoutError",
        "RemoteUnauthorizedError",
        "RemoteUnreachableError",
        "SuiteError",
        "TokenSourceError",
        "UsageError",
    ),
    ".evals": ("Eval",),
    ".loading": ("load_suites", "make_evals"),
    ".redaction": ("Redactor", "Secret"),
    ".reporters": ("render_json_report", "render_junit", "render_summary", "write_report"),
    ".results": ("AssertionResult", "EvalReport", "EvalResult", "RunResult", "Timing", "ToolCall", "Usage"),
    ".runner": ("EvalRunner", "Listener"),
    ".targets": ("Limits", "RemoteTarget", "Session", "Target"),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AssertionResult",
    "Check",
    "Eval",
    "EvalCase",
    "EvalContext",
    "EvalReport",
    "EvalResult",
    "EvalRunner",
    "Limits",
    "Listener",
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
    "RunResult",
    "Secret",
    "Session",
    "SuiteError",
    "Target",
    "Timing",
    "TokenSourceError",
    "ToolCall",
    "Turn",
    "Usage",
    "UsageError",
    "__version__",
    "at_least",
    "at_most",
    "equals",
    "includes",
    "load_suites",
    "make_evals",
    "matches",
    "render_json_report",
    "render_junit",
    "render_summary",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
