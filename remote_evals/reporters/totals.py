"""The last line of a summary: how many passed, and what the run took, as far as that is known."""

from ..core.durations import render_duration
from ..results import CaseResult, EvalReport, Missing
from ..results.report import Spread


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


def describe_repeats(case: CaseResult) -> str:
    """Return "2/3 flaky" and in brackets the score and the time: the mean, and the range where the runs differ."""
    rate = f"{case.rate} flaky" if case.is_flaky else case.rate
    score = _join(*_scores(case.score), ", ") if was_judged(case) else ""
    time = _join(*_times(case.duration_ms), ", ") if case.duration_ms.greatest else ""
    known = "; ".join(filter(None, [score and f"score {score}", time]))
    return f"{rate} ({known})" if known else rate


def render_score(case: CaseResult) -> str:
    """Return the score, and in brackets the range where the runs differ; empty when nothing was judged."""
    return _join(*_scores(case.score), " (", ")") if was_judged(case) else ""


def render_time(case: CaseResult) -> str:
    """Return the time of a run, and in brackets the range where the runs differ; empty when none began."""
    return _join(*_times(case.duration_ms), " (", ")") if case.duration_ms.greatest else ""


def was_judged(case: CaseResult) -> bool:
    """Say whether any run came to a judgement, so that the score is one."""
    return any(run.status in ("passed", "failed") for run in case.runs)


def _scores(spread: Spread) -> tuple[str, str, str]:
    return f"{spread.mean:.2f}", f"{spread.least:.2f}", f"{spread.greatest:.2f}"


def _times(spread: Spread) -> tuple[str, str, str]:
    mean, least, greatest = (render_duration(ms / 1000) for ms in (spread.mean, spread.least, spread.greatest))
    return mean, least, greatest


def _join(mean: str, least: str, greatest: str, before: str, after: str = "") -> str:
    # A range is written with an en dash, as numbers are.
    return mean if least == greatest else f"{mean}{before}{least}–{greatest}{after}"  # noqa: RUF001
