"""What the text reports show of a case that did not pass: how it ended, what it said, what it called, where to look."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.durations import render_duration
from ..core.json_values import render_json, to_json_value
from ..evals.assertions import describe_end
from ..results import EvalResult, RunResult, ToolCall
from ._reasons import is_under_way

_LONGEST_ROW_OF_CALLS = 64
# A client that goes away does not stop the turn at the deployment.
_CUT_OFF = "it was cut off, and what was sent may still take effect"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was seen, as one or more lines; `label` adds its turn, and whether it is partial."""

    kind: Literal["run", "reply", "tools"]
    label: str
    lines: tuple[str, ...]


def collect_evidence(result: EvalResult, limit: int) -> Iterator[Evidence]:
    """Return what was seen of a case, turn by turn; args and messages of tools are cut to `limit` characters."""
    if is_under_way(result):
        yield Evidence("run", "under way", (_CUT_OFF,))
    for run in result.turns or (result.run,):
        turn = f"turn {run.turn} " if len(result.turns) > 1 else ""
        so_far = " so far" if run.finish_reason is None else ""
        if _says_more(run, result):
            yield Evidence("run", f"{turn}run", (describe_end(run),))
        # Of a run that broke, nothing seen is nothing known.
        if run.reply or not so_far:
            yield Evidence("reply", f"{turn}reply{so_far}", split_lines(run.reply) or ("(empty)",))
        if run.tool_calls or not so_far:
            yield Evidence("tools", f"{turn}tools{so_far}", _list_calls(run.tool_calls, limit))


def needs_evidence(result: EvalResult) -> bool:
    """Say whether what was seen of a run is to be shown: it failed, broke, or was cut off under way."""
    return result.status in ("failed", "error") or is_under_way(result)


def describe_ids(result: EvalResult) -> str:
    """Return the ids under which the deployment knows the case: its session and its traces; empty without any."""
    traces = dict.fromkeys(run.trace_id for run in result.turns or (result.run,) if run.trace_id)
    parts = [f"session {result.session_id}"] if result.session_id else []
    parts += [f"trace{'s' * (len(traces) > 1)} {', '.join(traces)}"] if traces else []
    return " · ".join(parts)


def explain(result: EvalResult, limit: int) -> str:
    """Return why a run did not pass and what was seen of it, as lines of text."""
    reasons = [failed.message or failed.name for failed in result.failures]
    reasons += ["the case failed"] if result.status == "failed" and not reasons else []
    error = [f"{result.error.code}: {result.error.message}"] if result.error else []
    seen = [f"{found.label}: " + "\n".join(found.lines) for found in collect_evidence(result, limit)]
    return "\n".join([*reasons, *error, *([""] if seen else []), *seen, describe_ids(result)]).rstrip("\n")


def describe_time(result: EvalResult) -> str:
    """Return how long a case took, and how often it was sent again, to stand behind its name; empty for one not run."""
    retries = result.run.retries
    parts = [render_duration(result.duration_ms / 1000)] if result.duration_ms else []
    parts += [f"{retries} {'retry' if retries == 1 else 'retries'}"] if retries else []
    return f" ({', '.join(parts)})" if parts else ""


def list_soft_failures(result: EvalResult) -> list[str]:
    """Return the messages of the soft failures that did not decide the outcome."""
    return [failed.message or failed.name for failed in result.failed("soft") if failed not in result.failures]


def list_unchecked(result: EvalResult) -> list[str]:
    """Return the warnings of the assertions that passed without having been able to look."""
    return [assertion.message or assertion.name for assertion in result.assertions if assertion.skipped]


def list_oddities(result: EvalResult) -> list[str]:
    """Return what was odd in the streams of a case, where `--strict-protocol` has not made failures of it."""
    if any(assertion.key == "protocol" for assertion in result.assertions):
        return []
    turns = result.turns or (result.run,)
    where = {turn.turn: f" (turn {turn.turn})" if len(turns) > 1 else "" for turn in turns}
    return [f"protocol{where[turn.turn]}: {warning}" for turn in turns for warning in turn.warnings]


def list_warnings(result: EvalResult) -> list[str]:
    """Return what a case has to warn of, though it decided nothing: unmade checks, and what was odd in its streams."""
    return [*list_unchecked(result), *list_oddities(result)]


def describe_call(call: ToolCall, limit: int) -> str:
    """Return a call with the sub-agents that lead to it and how it ended: `research/fetch({"q": 1}) -> ok`."""
    name = "/".join([*call.subagent_path, call.name])
    why = ": ".join(filter(None, [call.error.name, call.error.message])) if call.error else ""
    ended = " ".join(filter(None, [call.outcome or "not finished", why]))
    return f"{name}({render_json(to_json_value(call.args), limit)}) -> {cut(ended, limit)}"


def cut(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text that are not blank; nothing but LF and CRLF breaks a line."""
    return tuple(line.removesuffix("\r") for line in text.split("\n") if line.strip())


def _says_more(run: RunResult, result: EvalResult) -> bool:
    if run.ended_normally or (run.finish_reason is None and result.error):
        return False
    return not any(describe_end(run) in assertion.message for assertion in result.assertions)


def _list_calls(calls: Sequence[ToolCall], limit: int) -> tuple[str, ...]:
    listed = [describe_call(call, limit) for call in calls]
    row = ", ".join(listed) or "(none)"
    return (row,) if len(row) <= _LONGEST_ROW_OF_CALLS else tuple(listed)
