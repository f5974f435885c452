"""Builders of the objects that tests need: frames, runs, calls, and a session that answers with given runs."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from remote_evals.core.prompts import Prompt
from remote_evals.errors import RemoteError
from remote_evals.evals.context import EvalContext
from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.json_events import MAX_DEPTH
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.results import AssertionResult, RunResult, ToolCall, Usage
from remote_evals.suites.eval_case import EvalCase

_T = TypeVar("_T")


def frame(kind: str, /, **fields: Any) -> dict[str, Any]:
    """Return an event as it is sent in a stream."""
    return {"type": kind, "runId": "run-1", "v": 1, **fields}


def started(call_id: str, name: str, args: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the frame of a tool call that begins."""
    return frame("tool.start", toolCallId=call_id, toolName=name, args=args or {}, **fields)


def ended(call_id: str, name: str, result: Any = None, **fields: Any) -> dict[str, Any]:
    """Return the frame of a tool call that returned."""
    return frame("tool.done", toolCallId=call_id, toolName=name, result=result, **fields)


def agent(name: str, call_id: str, parent: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the `subagent` field of a sub-agent's event."""
    return {"name": name, "depth": 1, "toolCallId": call_id} | ({"parent": parent} if parent else {})


def fold(*frames: dict[str, Any], turn: int = 1) -> RunResult:
    """Return the run that the frames give, one arriving every 10 ms; frames after a pause continue the run."""
    run = RunBuilder(CHAT.open_order(), turn)
    for index, one in enumerate(frames, start=1):
        if run.done and run.done.finish_reason == "awaiting-approval":
            run.begin_stream()
        run.add(parse_event(one), at_ms=10.0 * index)
    return run.result(total_ms=10.0 * (len(frames) + 1))


def call(name: str = "lookup_order", args: dict[str, Any] | None = None, **fields: Any) -> ToolCall:
    """Return a finished tool call."""
    return ToolCall(**{"id": "call_1", "name": name, "args": args or {}, "outcome": "ok", **fields})


def usage(total: int = 30, cost: float | None = 0.01, **fields: Any) -> Usage:
    """Return a usage of `total` tokens."""
    return Usage(**{"input_tokens": total, "output_tokens": 0, "total_tokens": total, "cost_usd": cost, **fields})


def run(*calls: ToolCall, **fields: Any) -> RunResult:
    """Return a run of two steps that ended normally."""
    return RunResult(**{"finish_reason": "stop", "tool_calls": calls, "steps": 2, "usage": usage(), **fields})


class FakeSession:
    """Answers turns and decisions with the given runs, in order; raises a given error. Records what it was sent."""

    id = "eval-1"
    partial: RunResult | None = None

    def __init__(self, *answers: RunResult | RemoteError) -> None:
        self.prompts: list[str] = []
        self.decisions: list[tuple[str, Mapping[str, Any]]] = []
        self._answers = list(answers)

    async def send(self, prompt: Prompt, turn: int) -> RunResult:
        self.prompts.append(str(prompt))
        return self._answer().model_copy(update={"turn": turn})

    async def decide(self, approval_id: str, decision: Mapping[str, Any]) -> RunResult:
        self.decisions.append((approval_id, decision))
        return self._answer()

    async def transcript(self) -> list[dict[str, Any]]:
        return [{"role": "user", "content": prompt} for prompt in self.prompts]

    def _answer(self) -> RunResult:
        answer = self._answers.pop(0)
        if isinstance(answer, RemoteError):
            raise answer
        return answer


async def outcomes(case: dict[str, Any], *answers: RunResult) -> list[AssertionResult]:
    """Return the assertions that a case, written as data, makes on the given answers."""
    t = EvalContext(FakeSession(*answers or [run()]))
    await EvalCase.model_validate({"name": "a case", "prompt": "hi"} | case).run(t)
    return t.assertions


def shown(results: list[AssertionResult]) -> list[tuple[str, bool]]:
    """Return the names of the assertions, and whether they passed."""
    return [(result.name, result.passed) for result in results]


def deepest() -> Any:
    """Return lists nested as deeply as the decoder of a stream allows."""
    return json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def far_below(action: Callable[[], _T], frames: int = 20) -> _T:
    """Return what the action returns when it runs this many calls deeper than the caller."""
    return far_below(action, frames - 1) if frames else action()
