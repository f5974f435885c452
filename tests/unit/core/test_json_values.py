"""How JSON values are compared, how their differences are named, and how they are shown."""

from typing import Any

import pytest

from remote_evals.core.json_values import find_differences, is_number, render_json, render_number, same_json

NAN = float("nan")

PAIRS: list[tuple[str, Any, Any, bool]] = [
    ("true is not 1", True, 1, False),
    ("0 is not false", 0, False, False),
    ("true is true", True, True, True),
    ("1 equals 1.0", 1, 1.0, True),
    ("a text is not a number", "1", 1, False),
    ("null is not false", None, False, False),
    ("null is null", None, None, True),
    ("key order is ignored", {"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ("an extra key differs", {"a": 1, "b": 2}, {"a": 1}, False),
    ("the order of a list counts", [1, 2], [2, 1], False),
    ("a longer list differs", [1, 2], [1], False),
    ("a tuple is a list", (1, 2), [1, 2], True),
    ("a text is not a list of its letters", "ab", ["a", "b"], False),
    ("deep true is not 1", {"a": [{"b": True}]}, {"a": [{"b": 1}]}, False),
    ("deep 1 equals 1.0", {"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}, True),
    ("an object is not a list", {}, [], False),
    ("lone surrogates compare", "\ud83d", "\ud83d", True),
    ("integers beyond every float compare", 10**400, 10**400, True),
]


@pytest.mark.parametrize(("actual", "expected", "same"), [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS])
def test_values_are_equal_as_json(actual: Any, expected: Any, same: bool) -> None:
    """Two values are the same if they are the same JSON, in either order of the arguments."""
    assert same_json(actual, expected) is same
    assert same_json(expected, actual) is same


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (1.5, True), (True, False), (NAN, False), (float("-inf"), False), ("1", False), (None, False)],
)
def test_a_number_is_finite_and_no_boolean(value: Any, expected: bool) -> None:
    """Only a value that can be compared with a limit counts as a number."""
    assert is_number(value) is expected


def test_an_integer_beyond_every_float_is_judged_without_raising() -> None:
    """Checking whether a value is a number never raises, however many digits it has."""
    assert is_number(10**400) in (True, False)


DIFFERENCES: list[tuple[str, Any, Any, list[tuple[str, str]]]] = [
    ("unexpected keys are ignored", {"a": 1, "b": 2}, {"a": 1}, []),
    ("unexpected nested keys are ignored", {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, []),
    ("nothing expected, nothing missing", {"a": 1}, {}, []),
    ("another value", {"a": "42"}, {"a": "41"}, [("a", 'expected "41", got "42"')]),
    ("an absent key", {}, {"a": 1}, [("a", "expected 1, got nothing")]),
    ("an absent null", {}, {"a": None}, [("a", "expected null, got nothing")]),
    ("an absent object", {}, {"a": {}}, [("a", "expected {}, got nothing")]),
    ("true for 1", {"a": True}, {"a": 1}, [("a", "expected 1, got true")]),
    ("an item of a list", {"a": [{"b": 1}]}, {"a": [{"b": 2}]}, [("a[0].b", "expected 2, got 1")]),
    ("items match partially", {"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, []),
    ("a shorter list", {"a": [1]}, {"a": [1, 2]}, [("a", "expected [1, 2], got [1]")]),
    ("a list for an object", {"a": [1]}, {"a": {"b": 1}}, [("a", 'expected {"b": 1}, got [1]')]),
    ("several at once", {"a": 1, "b": 2}, {"a": 2, "b": 3}, [("a", "expected 2, got 1"), ("b", "expected 3, got 2")]),
    ("no path at all", 1, 2, [("args", "expected 2, got 1")]),
]


@pytest.mark.parametrize(
    ("actual", "expected", "found"), [row[1:] for row in DIFFERENCES], ids=[row[0] for row in DIFFERENCES]
)
def test_a_difference_is_named_by_its_path(actual: Any, expected: Any, found: list[tuple[str, str]]) -> None:
    """A partial deep match reports where the actual value differs from the expected one, and what it holds there."""
    assert [(one.path, one.text) for one in find_differences(actual, expected)] == found


def test_a_long_value_is_cut() -> None:
    """A long value is cut to the given number of characters and ends with an ellipsis."""
    text = render_json("x" * 500, limit=20)
    assert (len(text), text[-1]) == (20, "…")


def make_circular() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


@pytest.mark.parametrize(
    "value",
    [{1, 2}, b"x", {(1, 2): 3}, {None: 1, "a": 2}, make_circular(), NAN, 10**400, "\ud83d\n\r"],
    ids=["set", "bytes", "tuple key", "null key", "circular", "nan", "huge", "odd text"],
)
def test_what_json_cannot_hold_is_shown_too(value: Any) -> None:
    """Any value can be shown in a message, on one line."""
    text = render_json(value)
    assert text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (0, "0"),
        (0.5, "0.5"),
        (1_234_567, "1234567"),
        (1_234_567.0, "1234567"),
        (0.00012, "0.00012"),
    ],
)
def test_a_number_is_shown_as_a_person_writes_it(value: float, text: str) -> None:
    """A number is shown without an exponent and without trailing zeros."""
    assert render_number(value) == text


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("-inf"), NAN, 0.99999, 1.00001, 1e300, -0.5, 10**400],
    ids=lambda value: f"{value}"[:9],
)
def test_every_number_can_be_shown(value: float) -> None:
    """Any number can be shown, and none ends with a decimal point."""
    text = render_number(value)
    assert text
    assert not text.endswith(".")
