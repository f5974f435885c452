"""What the user decided about a call that waits, and what becomes of the call."""

from dataclasses import dataclass
from typing import Any

from fake_server.script import Failure, Question, Tool

REJECTED = Failure(name="ToolRejectedError", message="Tool execution was rejected by the reviewer")
DECLINED = Failure(name="ToolRejectedError", message="The user declined to answer the question")


@dataclass(frozen=True)
class Decision:
    """An approval, a rejection, or the answer to a question."""

    approved: bool
    answer: str | None = None


def parse_decision(body: object) -> Decision | None:
    """Return the decision in a request body, or None when there is none in it."""
    given = body if isinstance(body, dict) else {}
    answer, approved = given.get("answer"), given.get("approved")
    if isinstance(answer, str):
        return Decision(approved=True, answer=answer)
    return Decision(approved) if isinstance(approved, bool) else None


def decide(tool: Tool, decision: Decision) -> Tool:
    """Return `tool` with the outcome it has once `decision` is made."""
    if not decision.approved:
        failure = DECLINED if tool.question else REJECTED
        return tool.model_copy(update={"error": failure, "duration": 0.0, "subagent": None})
    if tool.question and not tool.says("result"):
        return tool.model_copy(update={"result": _answered(tool.question, decision.answer or "")})
    return tool


def _answered(question: Question, answer: str) -> dict[str, Any]:
    options = [option.casefold() for option in question.options or []]
    chosen = answer.casefold()
    return {"answer": answer, **({"option": options.index(chosen)} if chosen in options else {})}
