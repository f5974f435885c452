"""The last line of a summary: how many passed, and what the run took, as far as that is known."""

from ..core.durations import render_duration
from ..results import EvalReport, Missing


def render_totals(report: EvalReport) -> str:
    """Return the totals: `7/8 passed (88%), 1 error · 14 steps · 3,200+ tokens · $0.0123 · 2.1s`.

    A plus says that some case did not report its part, so that the number is no more than a lower bound. Where cases
    ran more than once, `19/24 runs, 2 flaky` follows the cases; what judging took stands apart from the agent's usage.
    """
    return " · ".join(filter(None, [count_cases(report), render_usage(report)]))


def count_cases(report: EvalReport) -> str:
    """Return how many cases ended how, and how many runs passed where there were several."""
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
        _count(statuses.count("error"), "error"),
        f"{skipped} skipped" if skipped else "",
    ]
    return " · ".join(filter(None, [", ".join(filter(None, counts)), _count_runs(report)]))


def render_usage(report: EvalReport) -> str:
    """Return what the run took: steps, tokens, dollars, the judge's apart, and time; empty for a run of nothing."""
    if not report.results:
        return ""
    parts = [
        _count(report.soft_failed, "soft failure"),
        _count(_unchecked(report), "unmade check"),
        _count(report.protocol_warnings, "protocol warning"),
        _count(report.retries, "retry"),
        _count(report.steps, "step", _plus(report, "steps")),
        _count(report.total_tokens or 0, "token", _plus(report, "usage")),
        _render_cost(report),
        _render_judging(report),
        render_duration(report.duration_ms / 1000),
    ]
    return " · ".join(part for part in parts if part)


def _unchecked(report: EvalReport) -> int:
    return sum(made.skipped for result in report.results for made in result.assertions)


def _count_runs(report: EvalReport) -> str:
    cases = report.cases
    if len(cases) == len(report.results):
        return ""
    runs = f"{sum(result.passed for result in report.results)}/{len(report.results)} runs"
    flaky = sum(case.is_flaky for case in cases)
    return f"{runs}, {flaky} flaky" if flaky else runs


def _render_cost(report: EvalReport) -> str:
    if report.cost_usd is None:
        return "cost unknown" if report.total_tokens else ""
    return f"${report.cost_usd:.4f}{_plus(report, 'cost')}"


def _render_judging(report: EvalReport) -> str:
    usage = report.judge_usage
    if not usage:
        return ""
    # A sum to which some grading did not report its part is a lower bound here too.
    plus = "+" if any(one.judge_usage and one.judge_usage.cost_usd is None for one in report.results) else ""
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}{plus}"
    return f"judge: {_count(usage.total_tokens, 'token') or _count(usage.calls, 'call') or '0 calls'}, {cost}"


def _plus(report: EvalReport, name: Missing) -> str:
    sent = (result for result in report.results if result.status != "skipped" or result.turns)
    partial = any(name in result.run.missing for result in sent)
    return "+" if partial else ""


def _count(number: int, noun: str, plus: str = "") -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,}{plus} {noun if number == 1 and not plus else many}" if number else ""
