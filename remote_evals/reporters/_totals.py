"""The last line of a summary: how many passed, and what the run took, as far as that is known."""

from ..durations import render_duration
from ..results import EvalReport, Missing


def render_totals(report: EvalReport) -> str:
    """Return the totals: `7/8 passed (88%), 1 error · 14 steps · 3,200+ tokens · $0.0123 · 2.1s`.

    A plus says that some case did not report its part, so that the number is no more than a lower bound.
    """
    if not report.results:
        return "no cases ran"
    parts = [
        _count_cases(report),
        _count(report.soft_failed, "soft failure"),
        _count(report.steps, "step", _plus(report, "steps")),
        _count(report.total_tokens or 0, "token", _plus(report, "usage")),
        _render_cost(report),
        render_duration(report.duration_ms / 1000),
    ]
    return " · ".join(part for part in parts if part)


def _count_cases(report: EvalReport) -> str:
    passed, total = report.count("passed"), len(report.results)
    # 199 of 200 is not 100%.
    percent = 100 if passed == total else min(99, round(report.pass_rate * 100))
    others = [(report.count("failed"), "failed"), (report.count("skipped"), "skipped")]
    counts = [f"{count} {word}" for count, word in others if count]
    counts.insert(1 if report.count("failed") else 0, _count(report.count("error"), "error"))
    return ", ".join([f"{passed}/{total} passed ({percent}%)", *[count for count in counts if count]])


def _render_cost(report: EvalReport) -> str:
    if report.cost_usd is None:
        return "cost unknown" if report.total_tokens else ""
    return f"${report.cost_usd:.4f}{_plus(report, 'cost')}"


def _plus(report: EvalReport, name: Missing) -> str:
    partial = any(name in result.run.missing for result in report.results if result.status != "skipped")
    return "+" if partial else ""


def _count(number: int, noun: str, plus: str = "") -> str:
    return f"{number:,}{plus} {noun}{'' if number == 1 and not plus else 's'}" if number else ""
