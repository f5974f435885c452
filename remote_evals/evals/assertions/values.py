"""Value checks for `t.check` and `t.soft`. Each checks a value without raising, and says what it saw."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from ...core.json_values import is_number, render_json, render_number, same_json


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found: a score from 0 to 1, what was seen, and the score required by a check that measures."""

    passed: bool
    score: float
    seen: str = ""
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A named check of one value; `name` reads like the call that made it, `includes('shipped')`."""

    name: str
    judge: Callable[[Any], Outcome]


def includes(part: str) -> Check:
    """Pass when a text contains `part`, case-sensitively, or a list or mapping has it as an item or key."""
    return Check(f"includes({part!r})", lambda value: _pass_if(_contains(value, part), value))


def matches(pattern: str) -> Check:
    """Pass when the regular expression is found anywhere in a text. Raises `re.error` for an invalid one."""
    compiled = re.compile(pattern)
    return Check(
        f"matches({pattern!r})",
        lambda value: _pass_if(isinstance(value, str) and compiled.search(value) is not None, value),
    )


def equals(expected: Any) -> Check:
    """Pass when the value is equal as JSON: `True` is not `1`, `1` equals `1.0`, and key order does not count."""
    return Check(f"equals({render_json(expected)})", lambda value: _pass_if(same_json(value, expected), value))


def at_least(limit: float) -> Check:
    """Pass when a number is `limit` or more. A number from 0 to 1, such as a judge's score, is itself the score."""
    return Check(
        f"at_least({render_number(limit)})", lambda value: _measure(value, limit, lambda number: number >= limit)
    )


def at_most(limit: float) -> Check:
    """Pass when a number is `limit` or less."""
    return Check(f"at_most({render_number(limit)})", lambda value: _compare(value, lambda number: number <= limit))


class MissingValue(float):
    """Stands in for a value that is unknown, such as a judge's score, and passes no check.

    `why` says why it is unknown. `skipped` means that it was not asked for, so that a check of it is skipped.
    """

    skipped: bool
    why: str

    def __new__(cls, why: str, *, skipped: bool) -> Self:
        """Create it as a NaN with its reason."""
        value = super().__new__(cls, "nan")
        value.why, value.skipped = why, skipped
        return value


def _contains(value: Any, part: str) -> bool:
    if isinstance(value, str | dict):
        return part in value
    return isinstance(value, list | tuple) and any(same_json(item, part) for item in value)


def _pass_if(passed: bool, value: Any) -> Outcome:
    return Outcome(passed, float(passed), seen=f"got {render_json(value)}")


def _measure(value: Any, limit: float, accept: Callable[[float], bool]) -> Outcome:
    outcome = _compare(value, accept)
    is_share = is_number(value) and 0 <= value <= 1
    return replace(outcome, score=float(value) if is_share else outcome.score, threshold=limit)


def _compare(value: Any, accept: Callable[[float], bool]) -> Outcome:
    if not is_number(value):
        return Outcome(False, 0.0, seen=f"got {render_json(value)}, which is not a number")
    passed = accept(value)
    return Outcome(passed, float(passed), seen=f"got {render_number(value)}")
