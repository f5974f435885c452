"""Numbers of a report in words: the totals of the whole run, and how the runs of one case differ."""

from ..core.durations import render_duration
from ..results import CaseResult, EvalReport, Missing
from ..results.report import Spread


def render_totals(report: EvalReport) -> str:
    """Return the last line of a summary: `7/8 passed (88%), 1 error · 14 steps · 3,200+ tokens · $0.0123 · 2.1s`.

    A plus means that some case did not report its part, so that the number is a lower bound. Where cases ran more than
    once, `19/24 runs, 2 flaky` follows the cases. What judging used is separate from the agent's usage.
    """
    return " · ".join(filter(None, [render_counts(report), render_usage(report)]))


def render_counts(report: EvalReport) -> str:
    """Return how many cases passed, failed and so on, and how many runs passed where cases ran more than once."""
    if not report.results:
        return "no cases ran"
    cases = report.cases
    statuses = [case.status for case in cases]
    passed, total = statuses.count("passed"), len(cases)
    # 199 of 200 is not 100%.
    percent = 100 if passed == total else min(99, round(passed / total * 100))
    failed, skipped = statuses.count("failed"), statuses.count("skipped")
    counts = [
        f"{passed}/{total} passed ({percent}%)",
        f"{failed} failed" if failed else "",
        _render_count(statuses.count("error"), "error"),
        f"{skipped} skipped" if skipped else "",
    ]
    return " · ".join(filter(None, [", ".join(filter(None, counts)), _render_runs(report)]))


def render_usage(report: EvalReport) -> str:
    """Return what the run used: steps, tokens, dollars, the judge's share, and time; empty if no case ran."""
    if not report.results:
        return ""
    parts = [
        _render_count(report.soft_failed, "soft failure"),
        _render_count(_count_skipped_checks(report), "skipped check"),
        _render_count(report.protocol_warnings, "protocol warning"),
        _render_count(report.retries, "retry"),
        _render_count(report.steps, "step", _get_plus(report, "steps")),
        _render_count(report.total_tokens or 0, "token", _get_plus(report, "usage")),
        _render_cost(report),
        _render_judging(report),
        render_duration(report.duration_ms / 1000),
    ]
    return " · ".join(part for part in parts if part)


def describe_repeats(case: CaseResult) -> str:
    """Return "2/3 flaky" and, in brackets, the score and the time: the mean, and the range where the runs differ."""
    rate = f"{case.rate} flaky" if case.is_flaky else case.rate
    score = _render_spread(*_render_scores(case.score), ", ") if _was_judged(case) else ""
    time = _render_spread(*_render_times(case.duration_ms), ", ") if case.duration_ms.greatest else ""
    known = "; ".join(filter(None, [score and f"score {score}", time]))
    return f"{rate} ({known})" if known else rate


def render_score(case: CaseResult) -> str:
    """Return the score, and in brackets the range where the runs differ; empty when nothing was judged."""
    return _render_spread(*_render_scores(case.score), " (", ")") if _was_judged(case) else ""


def render_time(case: CaseResult) -> str:
    """Return the time of a run, and in brackets the range where the runs differ; empty when none began."""
    return _render_spread(*_render_times(case.duration_ms), " (", ")") if case.duration_ms.greatest else ""


def _render_runs(report: EvalReport) -> str:
    cases = report.cases
    if len(cases) == len(report.results):
        return ""
    runs = f"{sum(result.passed for result in report.results)}/{len(report.results)} runs"
    flaky = sum(case.is_flaky for case in cases)
    return f"{runs}, {flaky} flaky" if flaky else runs


def _count_skipped_checks(report: EvalReport) -> int:
    return sum(assertion.skipped for result in report.results for assertion in result.assertions)


def _render_cost(report: EvalReport) -> str:
    if report.cost_usd is None:
        return "cost unknown" if report.total_tokens else ""
    return f"${report.cost_usd:.4f}{_get_plus(report, 'cost')}"


def _render_judging(report: EvalReport) -> str:
    usage = report.judge_usage
    if not usage:
        return ""
    # A grading that did not report its cost makes the sum a lower bound here too.
    plus = "+" if any(one.judge_usage and one.judge_usage.cost_usd is None for one in report.results) else ""
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}{plus}"
    amount = _render_count(usage.total_tokens, "token") or _render_count(usage.calls, "call") or "0 calls"
    return f"judge: {amount}, {cost}"


def _get_plus(report: EvalReport, name: Missing) -> str:
    sent = (result for result in report.results if result.status != "skipped" or result.turns)
    is_partial = any(name in result.run.missing for result in sent)
    return "+" if is_partial else ""


def _render_count(number: int, noun: str, plus: str = "") -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,}{plus} {noun if number == 1 and not plus else plural}" if number else ""


def _was_judged(case: CaseResult) -> bool:
    """Return whether any run was judged; without one the score of 0 means nothing."""
    return any(run.status in ("passed", "failed") for run in case.runs)


def _render_scores(spread: Spread) -> tuple[str, str, str]:
    return f"{spread.mean:.2f}", f"{spread.least:.2f}", f"{spread.greatest:.2f}"


def _render_times(spread: Spread) -> tuple[str, str, str]:
    mean, least, greatest = (render_duration(ms / 1000) for ms in (spread.mean, spread.least, spread.greatest))
    return mean, least, greatest


def _render_spread(mean: str, least: str, greatest: str, before: str, after: str = "") -> str:
    # A range is written with an en dash, as numbers are.
    return mean if least == greatest else f"{mean}{before}{least}–{greatest}{after}"  # noqa: RUF001
