"""The scale of a mark: which number is the best one, where a rubric or a judge's answer says so."""

import re
from dataclasses import dataclass
from typing import Any

_TO = r"\s*(?:to|-|\u2013|\u2014|\.\.|and|through)\s*"
_TOP = r"(?P<top>[2-9]|[1-9][0-9]{1,3})(?![0-9.,]*[0-9])"
_MARKS = r"(?:scale|rat(?:e[sd]?|ings?)|scor(?:e[sd]?|ing)|grad(?:e[sd]?|ing)|marks?|points?|stars?)"

# "from 1 to 5", "on a scale of 1-10", "rate 0..100", "1-5 stars", "out of 10", "at least 8/10"
_SCALES = (
    re.compile(rf"\b{_MARKS}\b[^.;\n]{{0,40}}?(?<![0-9.])[01]{_TO}{_TOP}", re.IGNORECASE),
    re.compile(rf"\bfrom\s+[01]{_TO}{_TOP}(?!\s*(?:%|percent\b))(?=\W|$)", re.IGNORECASE),
    re.compile(rf"(?<![0-9.])[01]{_TO}{_TOP}\s*[- ]?{_MARKS}\b", re.IGNORECASE),
    re.compile(rf"\bout\s+of\s+{_TOP}", re.IGNORECASE),
    re.compile(r"(?<![0-9/.])[0-9]{1,3}(?:\.[0-9])?\s?/\s?(?P<top>5|10|20|50|100)(?![0-9/.])", re.IGNORECASE),
)
_FROM_ZERO = re.compile(rf"(?<![0-9.])0{_TO}")
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class Scale:
    """Marks from `low`, the worst, to `high`, the best."""

    low: float
    high: float

    def rate(self, mark: float) -> float | None:
        """Return a mark as a score from 0 to 1: its share of the best mark; None for one beyond the scale."""
        return mark / self.high if 0 <= mark <= self.high else None


def find_scale(rubric: str) -> Scale | None:
    """Return the scale that a rubric names other than 0 to 1, or None if it names none."""
    for pattern in _SCALES:
        if found := pattern.search(rubric):
            return Scale(0.0 if _FROM_ZERO.search(found[0]) else 1.0, float(found["top"]))
    return None


def parse_scale(value: Any) -> Scale | None:
    """Return the scale of a number or a text such as "1-5", "0 to 10" or "10"; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Scale(0.0, float(value)) if 0 < value < 1e6 else None
    numbers = [float(number) for number in _NUMBER.findall(value)] if isinstance(value, str) else []
    return Scale(min(numbers) if len(numbers) > 1 else 0.0, max(numbers)) if numbers and max(numbers) > 0 else None
