"""A case that ran several times, in words: how many runs passed, how far their scores and times lie apart."""

from ..core.durations import render_duration
from ..results import CaseResult
from ..results.report import Spread


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
