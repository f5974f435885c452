"""When each value check passes, and what it shows."""

import re
from typing import Any

import pytest

from remote_evals.evals.assertions.values import Check, at_least, at_most, equals, includes, matches
from tests.builders import deepest, far_below

NAN = float("nan")

CHECKS: list[tuple[Check, Any, bool]] = [
    (includes("ship"), "shipped", True),
    (includes("Ship"), "shipped", False),
    (includes("a"), ["a", "b"], True),
    (includes("a"), ("b",), False),
    (includes("a"), ["ab"], False),
    (includes("a"), {"a": 1}, True),
    (includes("1"), {"a": "1"}, False),
    (includes("a"), None, False),
    (includes("1"), 1, False),
    (matches(r"\d{2}"), "order 42", True),
    (matches(r"^order"), "an order", False),
    (matches("a"), ["a"], False),
    (equals({"a": 1, "b": True}), {"b": True, "a": 1.0}, True),
    (equals(1), True, False),
    (equals(None), None, True),
    (at_least(0.8), 0.8, True),
    (at_least(0.8), 0.79, False),
    (at_least(1), True, False),
    (at_least(0), NAN, False),
    (at_least(0), float("inf"), False),
    (at_most(3), 3, True),
    (at_most(3), 3.1, False),
    (at_most(3), "2", False),
    (at_most(3), None, False),
]


@pytest.mark.parametrize(("check", "value", "passed"), CHECKS, ids=[f"{c.name} of {v!r}" for c, v, _ in CHECKS])
def test_a_check_passes_or_fails(check: Check, value: Any, passed: bool) -> None:
    """A check passes or fails as its name says, and says what it got."""
    outcome = check.judge(value)
    assert outcome.passed is passed
    assert outcome.seen.startswith("got ")


@pytest.mark.parametrize(
    ("check", "name"),
    [
        (includes("shipped"), "includes('shipped')"),
        (matches(r"\d"), r"matches('\\d')"),
        (equals({"a": None}), 'equals({"a": null})'),
        (at_least(0.8), "at_least(0.8)"),
        (at_most(3), "at_most(3)"),
    ],
)
def test_a_check_is_named_by_the_call_that_made_it(check: Check, name: str) -> None:
    """A check has the name of the call that made it."""
    assert check.name == name


@pytest.mark.parametrize(("value", "score"), [(0.25, 0.25), (0.9, 0.9), (1, 1.0), (0, 0.0), (7, 1.0), ("x", 0.0)])
def test_a_number_from_0_to_1_is_the_score_itself(value: Any, score: float) -> None:
    """`at_least` has its limit as threshold; a number from 0 to 1 is the score, and any other value scores 1 or 0."""
    outcome = at_least(0.5).judge(value)
    assert (outcome.score, outcome.threshold) == (score, 0.5)


@pytest.mark.parametrize("check", [at_least(1_234_568), at_most(1_234_566)], ids=["at_least", "at_most"])
def test_large_numbers_are_told_apart(check: Check) -> None:
    """A message shows numbers above a million in full, so that two of them can be distinguished."""
    outcome = check.judge(1_234_567)
    assert not outcome.passed
    assert "1234567" in outcome.seen
    assert re.search(r"123456[68]", check.name)


@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), {(1,): 2}, {"a": {1, 2}}, b"\xff", "\ud83d", object()],
    ids=["huge", "huge negative", "tuple key", "set", "bytes", "surrogate", "object"],
)
@pytest.mark.parametrize(
    "check", [includes("a"), matches("a"), equals([1]), equals("a"), at_least(2), at_most(-1)], ids=lambda c: c.name
)
def test_no_value_makes_a_check_raise(check: Check, value: Any) -> None:
    """A check can judge any value."""
    assert check.judge(value).passed in (True, False)


@pytest.mark.parametrize("check", [includes("a"), equals([1]), at_least(2)], ids=lambda c: c.name)
def test_the_deepest_json_never_makes_a_check_raise(check: Check) -> None:
    """A value nested as deeply as JSON can be parsed is judged like any other."""
    deep = deepest()
    assert far_below(lambda: check.judge(deep)).passed is False


def test_an_invalid_pattern_is_refused_when_the_check_is_made() -> None:
    """An invalid regular expression raises before anything runs."""
    with pytest.raises(re.error):
        matches("(")
