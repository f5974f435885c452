"""Why cases were skipped or could not be judged, and which of them share a reason, so that it need be told only once.

Messages that differ by nothing but the ids of their own session and traces are one reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.durations import render_duration
from ..core.json_values import render_json, to_json_value
from ..results import CaseError, CaseResult, EvalResult, RunResult, ToolCall, describe_end

_FAILED_FAST = "FAILED_FAST"


@dataclass(frozen=True, slots=True)
class Skip:
    """Cases that were skipped for one reason, `under_way` of them cut off after something was sent."""

    error: CaseError
    cases: int
    under_way: int

    def __str__(self) -> str:
        under_way = f", {self.under_way} under way" if self.under_way else ""
        return f"{self.cases} case{'' if self.cases == 1 else 's'} skipped{under_way}"


class LastReason:
    """The reason that was told last, so that the runs behind it need not tell it again."""

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None

    def is_that_of(self, run: EvalResult) -> bool:
        """Say whether the next run has the same reason and no other, and take its own for the last one told."""
        if run.passed:
            return False
        before, self._key = self._key, _identify(run) if run.error and not run.failures else None
        return self._key is not None and self._key == before


def list_skips(cases: Iterable[CaseResult]) -> list[Skip]:
    """Return why cases were skipped, each reason once, in the order of their first cases."""
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in cases:
        if case.status == "skipped":
            groups.setdefault(_identify(find_decisive(case)), []).append(case)
    return [
        Skip(error_of(find_decisive(group[0])), len(group), sum(any(map(is_under_way, case.runs)) for case in group))
        for group in groups.values()
    ]


def find_decisive(case: CaseResult) -> EvalResult:
    """Return the run that says why a case ended as it did."""
    runs = [run for run in case.runs if run.status == case.status] or case.runs
    return next((run for run in runs if not is_asked_for(error_of(run))), runs[0])


def is_asked_for(error: CaseError) -> bool:
    """Say whether somebody asked, by --fail-fast, for cases to be skipped; the one that did not pass is red itself."""
    return error.code == _FAILED_FAST


def is_under_way(run: EvalResult) -> bool:
    """Say whether a run was cut off after something was sent."""
    return run.status == "skipped" and bool(run.turns)


def error_of(run: EvalResult) -> CaseError:
    """Return why a run was skipped or could not be judged, also where it does not say."""
    if run.error:
        return run.error
    code, message = ("SKIPPED", "not run") if run.status == "skipped" else ("ERROR", "the case could not be judged")
    return CaseError(code=code, message=message)


def _identify(run: EvalResult) -> tuple[str, str]:
    error = error_of(run)
    message = error.message
    for own in filter(None, (run.session_id, *(turn.trace_id for turn in (run.run, *run.turns)))):
        message = message.replace(own, "…")
    return error.code, message


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
