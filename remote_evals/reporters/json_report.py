"""The report as JSON, format 1. Fields may be added to it; none is renamed or removed without a new `format_version`.

The text is ASCII, and has no `##`, by which some CI systems know a command in a log: the first `#` of it is written as
an escape. Times ending in `_ms` are milliseconds, `_usd` is US dollars. A number that is not finite is the string
"NaN", "Infinity" or "-Infinity"; what an in-process agent gave and JSON cannot hold is its `repr`.

Top:
    format_version  1
    tool_version    the version of remote-evals
    started_at      ISO 8601, UTC
    target          the deployment, without userinfo and query
    interrupted     whether the run was stopped before its end; cases that were not done are "skipped" then
    summary         total, passed, failed, errors, skipped, flaky: numbers of cases; runs: {total, passed, pass_rate};
                    soft_failed: number of failed soft assertions; protocol_warnings, retries: numbers, over all turns;
                    pass_rate, avg_score: 0 to 1, over all runs; duration_ms: wall-clock; steps; total_tokens, cost_usd:
                    the agent's, of the runs that reported any, null when none did; judge_usage: what judging took, null
                    when no judge was asked
    cases           one object a case, in the order of the suites
    results         one object a run, in the same order; a case that ran several times has its runs one after another

Each of `cases`:
    name, suite, file
    status          "passed" when at least `needed` of its runs passed; "failed" when too many failed for that; else
                    "error" or "skipped"
    runs, passed_runs, needed   numbers of runs
    flaky           whether some runs passed and some failed
    rate            passed_runs of runs, as "2/3"
    score, duration_ms          mean, least, greatest: of its runs

Each of `results`:
    name, case      the row and the case it belongs to; they differ where a case runs more than once
    suite, tags, file, metadata
    target          the deployment that was asked
    status          "passed", "failed", "error" (it could not be judged) or "skipped"
    passed          whether status is "passed"
    score           0 to 1: judged_score where there is one, else the mean over its assertions; 0 for a run that was
                    not judged
    judged_score    0 to 1, what a judge gave by the case's rubric; null when none was asked
    judge_usage     input_tokens, output_tokens, total_tokens, cost_usd (null: unknown, not zero), calls: what judging
                    took, apart from the agent's own usage; null when no judge was asked
    pass_at         how many runs of the case must pass; null: all of them
    duration_ms     the time that the agent took, over all turns
    session_id      null when no session was opened
    timing          headers_ms, first_event_ms, first_text_ms: after the request was sent, null for what never came, the
                    latest of all turns; total_ms; longest_gap_ms: the longest silence between two events
    reply           the last reply, "" for none
    finish_reason   "stop", or why the first run that did not end normally ended; null when it never did
    object          the structured output, null for none
    steps           of the lead agent; see `missing`
    tool_calls      id, name, args, subagent_path (outermost first, [] for the lead agent), outcome ("ok", "error", null
                    when it never finished), result, error ({name, message, code} or null; code may be null),
                    duration_ms (null when unknown), turn (from 1)
    usage           input_tokens, output_tokens, total_tokens, cost_usd (null: unknown, not zero), model_calls (or
                    null), estimated; null when none was reported
    missing         which of "usage", "steps" and "cost" were not reported, so that a number for it is no more than a
                    part of the whole; "events" where some were lost on the way
    pending_approval   approval_id, tool_call_id, tool, args, question (or null); null when the run waits for nothing
    run_error       the run's own error, {name, message, code}, or null
    retries         how many requests were sent again, since the deployment cannot have begun on them; no time counts
                    these attempts, or the waits between
    warnings        what was odd in the stream, a sentence each, such as a gap in the numbers of its events
    turns           one object a turn: turn (from 1), run_id, trace_id (both or either null), last_event (the type of
                    the last event seen, or null), and the fields from `timing` to `warnings` as above
    checks          whether each assertion passed, by its key; of assertions with the same key all must have
    assertions      name, key (a stable name such as "tool_called:lookup_order", or ""), kind ("gate" or "soft"),
                    passed, score (0 to 1), threshold (or null), message ("" when there is nothing to say), skipped
                    (passed without having been able to look), conclusive (failed by what was seen, which nothing that
                    went unseen could undo), turn (null: the whole case)
    error           why the case was skipped, could not be judged, or broke off: {code, message, status}, or null;
                    status is the HTTP status where that was the failure, else null
"""

from collections import Counter
from dataclasses import asdict
from typing import Any

from ..core.json_values import render_json_text
from ..results import CaseResult, EvalReport, EvalResult, RunResult

FORMAT_VERSION = 1


def render_json_report(report: EvalReport) -> str:
    """Return the report as JSON; whatever the agent sent, it is valid and ASCII."""
    document = {
        "format_version": FORMAT_VERSION,
        "tool_version": report.tool_version,
        "started_at": report.started_at,
        "target": report.target,
        "interrupted": report.interrupted,
        "summary": _summary(report),
        "cases": [_case(case) for case in report.cases],
        "results": [_result(result) for result in report.results],
    }
    return render_json_text(document)


def _summary(report: EvalReport) -> dict[str, Any]:
    statuses = Counter(case.status for case in report.cases)
    passed_runs = sum(result.passed for result in report.results)
    return {
        "total": statuses.total(),
        "passed": statuses["passed"],
        "failed": statuses["failed"],
        "errors": statuses["error"],
        "skipped": statuses["skipped"],
        "flaky": sum(case.is_flaky for case in report.cases),
        "runs": {"total": len(report.results), "passed": passed_runs, "pass_rate": report.pass_rate},
        "soft_failed": report.soft_failed,
        "protocol_warnings": report.protocol_warnings,
        "retries": report.retries,
        "pass_rate": report.pass_rate,
        "avg_score": report.avg_score,
        "duration_ms": report.duration_ms,
        "steps": report.steps,
        "total_tokens": report.total_tokens,
        "cost_usd": report.cost_usd,
        "judge_usage": report.judge_usage,
    }


def _case(case: CaseResult) -> dict[str, Any]:
    return {
        "name": case.name,
        "suite": case.runs[0].suite,
        "file": case.runs[0].file,
        "status": case.status,
        "runs": len(case.runs),
        "passed_runs": case.passed_runs,
        "needed": case.needed,
        "flaky": case.is_flaky,
        "rate": case.rate,
        "score": asdict(case.score),
        "duration_ms": asdict(case.duration_ms),
    }


def _result(result: EvalResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "case": result.case,
        "suite": result.suite,
        "tags": result.tags,
        "metadata": result.metadata,
        "target": result.target,
        "file": result.file,
        "status": result.status,
        "passed": result.passed,
        "score": result.score,
        "judged_score": result.judged_score,
        "judge_usage": result.judge_usage,
        "pass_at": result.pass_at,
        "duration_ms": result.duration_ms,
        "session_id": result.session_id,
        **_run(result.run),
        "turns": [_turn(turn) for turn in result.turns],
        "checks": result.checks,
        "assertions": result.assertions,
        "error": result.error,
    }


def _turn(run: RunResult) -> dict[str, Any]:
    ids = {"turn": run.turn, "run_id": run.run_id, "trace_id": run.trace_id}
    return {**ids, **_run(run), "last_event": run.last_event}


def _run(run: RunResult) -> dict[str, Any]:
    return {
        "timing": run.timing,
        "reply": run.reply,
        "finish_reason": run.finish_reason,
        "object": run.object,
        "steps": run.steps,
        "tool_calls": run.tool_calls,
        "usage": run.usage,
        "missing": run.missing,
        "pending_approval": run.pending_approval,
        "run_error": run.error,
        "retries": run.retries,
        "warnings": run.warnings,
    }
