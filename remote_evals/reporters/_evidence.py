"""What the text reports show of a case that did not pass: how it ended, what it said, what it called, where to look."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..assertions import describe_end
from ..matching import render_json
from ..results import EvalResult, RunResult, ToolCall
from ._json_value import to_json_value

_LONGEST_ROW_OF_CALLS = 64


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was seen, under its label, as one or more lines."""

    label: str
    lines: tuple[str, ...]


def collect_evidence(result: EvalResult, limit: int) -> list[Evidence]:
    """Return what was seen of a case, turn by turn; args and messages of tools are cut to `limit` characters."""
    turns = [turn for turn in result.turns or (result.run,) if not _is_empty(turn)]
    prefixes = [f"turn {turn.turn} " if len(result.turns) > 1 else "" for turn in turns]
    return [
        Evidence(prefix + found.label, found.lines)
        for prefix, turn in zip(prefixes, turns, strict=True)
        for found in _collect_turn(result, turn, limit)
    ]


def describe_ids(result: EvalResult) -> str:
    """Return the ids under which the deployment knows the case: its session and its traces; empty without any."""
    traces = dict.fromkeys(run.trace_id for run in result.turns or (result.run,) if run.trace_id)
    parts = [f"session {result.session_id}"] if result.session_id else []
    parts += [f"trace{'s' * (len(traces) > 1)} {', '.join(traces)}"] if traces else []
    return " · ".join(parts)


def list_soft_failures(result: EvalResult) -> list[str]:
    """Return the messages of the soft failures that did not decide the outcome."""
    return [failed.message or failed.name for failed in result.failed("soft") if failed not in result.failures]


def list_unchecked(result: EvalResult) -> list[str]:
    """Return the warnings of the assertions that passed without having been able to look."""
    return [assertion.message or assertion.name for assertion in result.assertions if assertion.skipped]


def describe_call(call: ToolCall, limit: int) -> str:
    """Return a call with the sub-agents that lead to it and how it ended: `research/fetch({"q": 1}) -> ok`."""
    name = "/".join([*call.subagent_path, call.name])
    why = ": ".join(filter(None, [call.error.name, call.error.message])) if call.error else ""
    ended = " ".join(filter(None, [call.outcome or "never finished", why]))
    return f"{name}({render_json(to_json_value(call.args), limit)}) -> {cut(ended, limit)}"


def cut(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text that are not blank; nothing but LF and CRLF breaks a line."""
    return tuple(line.removesuffix("\r") for line in text.split("\n") if line.strip())


def _is_empty(run: RunResult) -> bool:
    return run.finish_reason is None and not run.reply and not run.tool_calls


def _collect_turn(result: EvalResult, run: RunResult, limit: int) -> list[Evidence]:
    so_far = " so far" if run.finish_reason is None else ""
    found = []
    if _says_more(run, result):
        found.append(Evidence("run", (describe_end(run),)))
    if run.reply or not so_far:
        found.append(Evidence(f"reply{so_far}", split_lines(run.reply) or ("(empty)",)))
    if run.tool_calls or not so_far:
        found.append(Evidence(f"tools{so_far}", _join_calls([describe_call(call, limit) for call in run.tool_calls])))
    return found


def _says_more(run: RunResult, result: EvalResult) -> bool:
    if run.ended_normally or (run.finish_reason is None and result.error):
        return False
    return not any(describe_end(run) in assertion.message for assertion in result.assertions)


def _join_calls(calls: Sequence[str]) -> tuple[str, ...]:
    row = ", ".join(calls) or "(none)"
    return (row,) if len(row) <= _LONGEST_ROW_OF_CALLS else tuple(calls)
