"""What the text reports show of a case that did not pass: how it ended, what it said, what it called, where to look.

Also why cases were skipped or could not be judged, and which of them share a reason, so that each reason is shown once.
Messages that differ only in their own session and trace ids count as one reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.durations import render_duration
from ..core.json_values import render_json, to_json_value
from ..results import CaseError, CaseResult, EvalResult, RunResult, ToolCall, describe_end

_LONGEST_ROW_OF_CALLS = 64
# A deployment may go on with a turn when its client disconnects, or abort it; what ran until then has run.
_CUT_OFF = "it was cut off, and what was sent may still take effect"
_FAILED_FAST = "FAILED_FAST"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was seen, as one or more lines; `label` adds its turn, and whether it is partial."""

    kind: Literal["run", "reply", "tools"]
    label: str
    lines: tuple[str, ...]


def collect_evidence(result: EvalResult, limit: int) -> Iterator[Evidence]:
    """Yield what was seen of a run, turn by turn; args and error messages of tools are cut to `limit` characters."""
    if was_under_way(result):
        yield Evidence("run", "under way", (_CUT_OFF,))
    for turn in result.turns or (result.run,):
        prefix = f"turn {turn.turn} " if len(result.turns) > 1 else ""
        so_far = " so far" if turn.finish_reason is None else ""
        if _needs_end(turn, result):
            yield Evidence("run", f"{prefix}run", (describe_end(turn),))
        # In a turn that broke, an empty reply or no tool call proves nothing.
        if turn.reply or not so_far:
            yield Evidence("reply", f"{prefix}reply{so_far}", split_lines(turn.reply) or ("(empty)",))
        if turn.tool_calls or not so_far:
            yield Evidence("tools", f"{prefix}tools{so_far}", _list_calls(turn.tool_calls, limit))


def needs_evidence(result: EvalResult) -> bool:
    """Return whether a report shows the evidence of a run: it failed, broke, or was cut off under way."""
    return result.status in ("failed", "error") or was_under_way(result)


def explain_result(result: EvalResult, limit: int) -> str:
    """Return why a run did not pass and its evidence, as lines of text."""
    reasons = [failed.message or failed.name for failed in result.failures]
    reasons += ["the case failed"] if result.status == "failed" and not reasons else []
    error = [f"{result.error.code}: {result.error.message}"] if result.error else []
    seen = [f"{found.label}: " + "\n".join(found.lines) for found in collect_evidence(result, limit)]
    return "\n".join([*reasons, *error, *([""] if seen else []), *seen, describe_ids(result)]).rstrip("\n")


def describe_ids(result: EvalResult) -> str:
    """Return the ids by which the deployment knows a run, its session and its traces, or an empty text."""
    traces = dict.fromkeys(turn.trace_id for turn in result.turns or (result.run,) if turn.trace_id)
    parts = [f"session {result.session_id}"] if result.session_id else []
    parts += [f"trace{'s' * (len(traces) > 1)} {', '.join(traces)}"] if traces else []
    return " · ".join(parts)


def describe_time(result: EvalResult) -> str:
    """Return ` (1.9s, 1 retry)` to follow the name of a run: its time and its retries, or an empty text."""
    retries = result.run.retries
    parts = [render_duration(result.duration_ms / 1000)] if result.duration_ms else []
    parts += [f"{retries} {'retry' if retries == 1 else 'retries'}"] if retries else []
    return f" ({', '.join(parts)})" if parts else ""


def list_soft_failures(result: EvalResult) -> list[str]:
    """Return the messages of the soft failures that did not decide the outcome."""
    return [failed.message or failed.name for failed in result.failed("soft") if failed not in result.failures]


def list_warnings(result: EvalResult) -> list[str]:
    """Return the warnings of a run, which decide nothing: those of the case, skipped checks and protocol warnings."""
    return [*result.case_warnings, *list_skipped_checks(result), *list_protocol_warnings(result)]


def list_skipped_checks(result: EvalResult) -> list[str]:
    """Return the messages of the assertions that passed without being checked."""
    return [assertion.message or assertion.name for assertion in result.assertions if assertion.skipped]


def list_protocol_warnings(result: EvalResult) -> list[str]:
    """Return the protocol warnings of all turns; empty where `--strict-protocol` made them failures."""
    if any(assertion.key == "protocol" for assertion in result.assertions):
        return []
    turns = result.turns or (result.run,)
    where = {turn.turn: f" (turn {turn.turn})" if len(turns) > 1 else "" for turn in turns}
    return [f"protocol{where[turn.turn]}: {warning}" for turn in turns for warning in turn.warnings]


@dataclass(frozen=True, slots=True)
class Skip:
    """Cases that were skipped for one reason; `under_way` of them were cut off after something was sent."""

    error: CaseError
    cases: int
    under_way: int

    def __str__(self) -> str:
        under_way = f", {self.under_way} under way" if self.under_way else ""
        return f"{self.cases} case{'' if self.cases == 1 else 's'} skipped{under_way}"


def list_skips(cases: Iterable[CaseResult]) -> list[Skip]:
    """Return why cases were skipped, each reason once, in the order of their first cases."""
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in cases:
        if case.status == "skipped":
            groups.setdefault(_get_reason_key(get_decisive_run(case)), []).append(case)
    return [
        Skip(
            error=get_error(get_decisive_run(group[0])),
            cases=len(group),
            under_way=sum(any(map(was_under_way, case.runs)) for case in group),
        )
        for group in groups.values()
    ]


class ReasonTracker:
    """Remembers the reason that was shown last, so that the runs below it need not repeat it."""

    def __init__(self) -> None:
        self._last: tuple[str, str] | None = None

    def is_repeated(self, result: EvalResult) -> bool:
        """Return whether the next run has the last reason and no other; remember its own reason from here on."""
        if result.passed:
            return False
        last, self._last = self._last, _get_reason_key(result) if result.error and not result.failures else None
        return self._last is not None and self._last == last


def get_decisive_run(case: CaseResult) -> EvalResult:
    """Return the run that says why a case ended as it did."""
    runs = [run for run in case.runs if run.status == case.status] or case.runs
    return next((run for run in runs if not is_fail_fast(get_error(run))), runs[0])


def get_error(result: EvalResult) -> CaseError:
    """Return why a run was skipped or could not be judged, with a default where it does not say."""
    if result.error:
        return result.error
    code, message = ("SKIPPED", "not run") if result.status == "skipped" else ("ERROR", "the case could not be judged")
    return CaseError(code=code, message=message)


def is_fail_fast(error: CaseError) -> bool:
    """Return whether a case was skipped by --fail-fast, as requested; the case that did not pass is red itself."""
    return error.code == _FAILED_FAST


def was_under_way(result: EvalResult) -> bool:
    """Return whether a run was cut off after something was sent."""
    return result.status == "skipped" and bool(result.turns)


def truncate(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text that are not blank; only LF and CRLF end a line."""
    return tuple(line.removesuffix("\r") for line in text.split("\n") if line.strip())


def _needs_end(turn: RunResult, result: EvalResult) -> bool:
    """Return whether the end of a turn adds something to the messages of its run."""
    if turn.ended_normally or (turn.finish_reason is None and result.error):
        return False
    return not any(describe_end(turn) in assertion.message for assertion in result.assertions)


def _list_calls(calls: Sequence[ToolCall], limit: int) -> tuple[str, ...]:
    listed = [_describe_call(call, limit) for call in calls]
    row = ", ".join(listed) or "(none)"
    return (row,) if len(row) <= _LONGEST_ROW_OF_CALLS else tuple(listed)


def _describe_call(call: ToolCall, limit: int) -> str:
    """Return a call with the sub-agents that lead to it and how it ended: `research/fetch({"q": 1}) -> ok`."""
    name = "/".join([*call.subagent_path, call.name])
    why = ": ".join(filter(None, [call.error.name, call.error.message])) if call.error else ""
    ended = " ".join(filter(None, [call.outcome or "not finished", why]))
    return f"{name}({render_json(to_json_value(call.args), limit)}) -> {truncate(ended, limit)}"


def _get_reason_key(result: EvalResult) -> tuple[str, str]:
    """Return the code and the message of a run's error, without the run's own ids."""
    error = get_error(result)
    message = error.message
    for own_id in filter(None, (result.session_id, *(turn.trace_id for turn in (result.run, *result.turns)))):
        message = message.replace(own_id, "…")
    return error.code, message
