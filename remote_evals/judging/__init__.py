"""Who judges what only a reader can decide: an LLM behind a URL, or a callable.

Imported on first use, since results hold what a judge used up, and must not load an HTTP client for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..results import JudgeUsage, Verdict
    from .base import Judge
    from .function import CallableJudge, Graded, Grader, make_judge
    from .llm import LLMJudge
    from .verdict_parsing import parse_judge_score, parse_verdict

_HOMES = {
    ".function": ("CallableJudge", "Graded", "Grader", "make_judge"),
    ".llm": ("LLMJudge",),
    ".base": ("Judge",),
    ".verdict_parsing": ("parse_judge_score", "parse_verdict"),
    "..results": ("JudgeUsage", "Verdict"),
}

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CallableJudge",
    "Graded",
    "Grader",
    "Judge",
    "JudgeUsage",
    "LLMJudge",
    "Verdict",
    "make_judge",
    "parse_judge_score",
    "parse_verdict",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name], __name__), name)
