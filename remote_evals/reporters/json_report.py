"""Renders the report as JSON, format 1. Every field is described in README.md, beside this file, under "JSON".

Fields may be added; none is renamed or removed without a new `format_version`. The text is ASCII and contains no `##`,
which some CI systems read as a command in a log: the first `#` is written as an escape.
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
        "case_warnings": result.case_warnings,
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
        "pending_approvals": run.pending_approvals,
        "run_error": run.error,
        "retries": run.retries,
        "warnings": run.warnings,
    }
