"""Grades what only a reader can decide: whether a reply meets a rubric. Modules are imported on first use.

In: a rubric, a request and a reply, as text; where an LLM is, which model, and its key.
Out: a `Verdict` with what it cost, or a `JudgeError`; never a guessed score.
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
