"""The report as JSON, format 1. Fields may be added; none is renamed or removed without a new `format_version`.

The text is ASCII and contains no `##`, which some CI systems read as a command in a log: the first `#` is written as an
escape. Times in `_ms` are milliseconds, `_usd` is US dollars. A number that is not finite is the string "NaN",
"Infinity" or "-Infinity"; a value from an in-process agent that JSON cannot hold is its `repr`.

Top level:
    format_version  1
    tool_version    the version of remote-evals
    started_at      ISO 8601, UTC
    target          the deployment, without userinfo and query
    interrupted     whether the run was stopped before its end; the cases that were not done are "skipped" then
    summary         total, passed, failed, errors, skipped, flaky: numbers of cases; runs: {total, passed, pass_rate};
                    soft_failed: number of failed soft assertions; protocol_warnings, retries: numbers, over all turns;
                    pass_rate, avg_score: 0 to 1, over all runs; duration_ms: wall-clock time; steps; total_tokens,
                    cost_usd: the agent's, summed over the runs that reported any, null if none did; judge_usage: what
                    judging used, null if no judge was asked
    cases           one object for each case, in the order of the suites
    results         one object for each run, in the same order; the runs of one case follow one another

Each of `cases`:
    name, suite, file
    status          "passed" if at least `needed` of its runs passed; "failed" if too many failed for that; else "error"
                    or "skipped"
    runs, passed_runs, needed   numbers of runs
    flaky           whether some runs passed and some failed
    rate            passed_runs of runs, as "2/3"
    score, duration_ms          mean, least, greatest: over its runs

Each of `results`:
    name, case      the run's row and the case it belongs to; they differ if a case runs more than once
    suite, tags, file, metadata
    target          the deployment that was asked
    status          "passed", "failed", "error" (it could not be judged) or "skipped"
    passed          whether status is "passed"
    score           0 to 1: judged_score if there is one, else the mean over its assertions; 0 for a run that was not
                    judged
    judged_score    0 to 1: the judge's score by the case's rubric; null if no judge was asked
    judge_usage     input_tokens, output_tokens, total_tokens, cost_usd (null: unknown, not zero), calls: what judging
                    used, apart from the agent's own usage; null if no judge was asked
    pass_at         how many runs of the case must pass; null: all of them
    duration_ms     the time that the agent took, over all turns
    session_id      null if no session was opened
    timing          headers_ms, first_event_ms, first_text_ms: after the request was sent, null if it never came, the
                    latest over all turns; total_ms; longest_gap_ms: the longest silence between two events
    reply           the last reply, "" for none
    finish_reason   "stop", or why the first run that did not end normally ended; null if it never did
    object          the structured output, null for none
    steps           of the lead agent; see `missing`
    tool_calls      id, name, args, subagent_path (outermost first, [] for the lead agent), outcome ("ok", "error", null
                    if it never finished), result, error ({name, message, code} or null; code may be null), duration_ms
                    (null if unknown), turn (from 1)
    usage           input_tokens, output_tokens, total_tokens, cost_usd (null: unknown, not zero), model_calls (or
                    null), estimated; null if none was reported
    missing         which of "usage", "steps" and "cost" were not reported, so that their numbers are only part of the
                    whole; "events" if some events were lost in transit
    pending_approval   approval_id, tool_call_id, tool, args, question (or null); null if the run waits for nothing
    run_error       the run's own error, {name, message, code}, or null
    retries         how many requests were sent again, since the deployment cannot have begun on them; no time includes
                    these attempts or the waits between them
    warnings        what was odd in the stream, one sentence each, such as a gap in the numbers of its events
    turns           one object for each turn: turn (from 1), run_id, trace_id (each may be null), last_event (the type
                    of the last event seen, or null), and the fields from `timing` to `warnings` as above
    checks          whether each assertion passed, by its key; of assertions with the same key, all must pass
    assertions      name, key (a stable name such as "tool_called:lookup_order", or ""), kind ("gate" or "soft"),
                    passed, score (0 to 1), threshold (or null), message (may be ""), skipped (it passed without
                    being checked, and message says why), conclusive (it failed by what was seen, so nothing unseen
                    could change that), turn (null: the whole case)
    error           why the case was skipped, could not be judged, or broke off: {code, message, status}, or null;
                    status is the HTTP status if that was the failure, else null
"""

from collections import Counter
from dataclasses import asdict
from typing import Any

from ..core.json_values import render_json_text
from ..results import CaseResult, EvalReport, EvalResult, RunResult

FORMAT_VERSION = 1


def render_json_report(report: EvalReport) -> str:
    """Return the report as JSON that is valid and ASCII, whatever the agent sent."""
    document = {
        "format_version": FORMAT_VERSION,
        "tool_version": report.tool_version,
        "started_at": report.started_at,
        "target": report.target,
        "interrupted": report.interrupted,
        "summary": _build_summary(report),
        "cases": [_build_case(case) for case in report.cases],
        "results": [_build_result(result) for result in report.results],
    }
    return render_json_text(document)


def _build_summary(report: EvalReport) -> dict[str, Any]:
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


def _build_case(case: CaseResult) -> dict[str, Any]:
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


def _build_result(result: EvalResult) -> dict[str, Any]:
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
        **_build_run(result.run),
        "turns": [_build_turn(turn) for turn in result.turns],
        "checks": result.checks,
        "assertions": result.assertions,
        "error": result.error,
    }


def _build_turn(run: RunResult) -> dict[str, Any]:
    ids = {"turn": run.turn, "run_id": run.run_id, "trace_id": run.trace_id}
    return {**ids, **_build_run(run), "last_event": run.last_event}


def _build_run(run: RunResult) -> dict[str, Any]:
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
