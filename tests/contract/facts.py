"""The recorded streams of a real deployment, and the facts that a reader must find in each of them."""

import json
from pathlib import Path
from typing import Any

from remote_evals.results import RunResult, ToolCall

_FOLDER = Path(__file__).parent

FACTS: dict[str, dict[str, Any]] = json.loads((_FOLDER / "expected.json").read_text("utf-8"))
RECORDINGS = sorted(name for name, facts in FACTS.items() if "status" not in facts)
ANSWERS = sorted(name for name, facts in FACTS.items() if "status" in facts)


def load_body(name: str) -> bytes:
    """Return the recorded body, byte by byte."""
    return (_FOLDER / "recordings" / f"{name}.sse").read_bytes()


def load_head(name: str) -> tuple[int, list[tuple[str, str]]]:
    """Return the recorded status and headers."""
    status_line, *lines = (_FOLDER / "recordings" / f"{name}.headers").read_text("ascii").strip().split("\n")
    headers = [(key, value.strip()) for key, _, value in (line.partition(":") for line in lines)]
    return int(status_line.split()[1]), headers


def get_facts(run: RunResult) -> dict[str, Any]:
    """Return the facts of a run in the shape of `expected.json`."""
    usage, approval = run.usage, run.pending_approval
    return {
        "complete": run.finish_reason is not None,
        "error": run.error.message if run.error else None,
        "approval": approval and {"approval_id": approval.approval_id, "tool": approval.tool, "args": approval.args},
        "text": run.reply,
        "finish_reason": run.finish_reason,
        "object": run.object,
        "usage": usage
        and {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
            "cost_usd": usage.cost_usd,
            "model_calls": usage.model_calls,
            "estimated": usage.estimated,
        },
        "tool_calls": [_get_call_facts(call) for call in run.tool_calls],
        "steps": run.steps,
    }


def _get_call_facts(call: ToolCall) -> dict[str, Any]:
    return {
        "name": call.name,
        "args": call.args,
        "subagent_path": list(call.subagent_path),
        "outcome": call.error.name if call.error else call.outcome,
    }
