"""Which texts are durations, and how a duration is shown."""

from typing import Any

import pytest

from remote_evals.core.durations import parse_duration, render_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("30s", 30.0),
        ("10m", 600.0),
        ("2h", 7200.0),
        ("1.5s", 1.5),
        (" 5 s ", 5.0),
        ("7", 7.0),
        (7, 7.0),
        (0.25, 0.25),
        (0, 0.0),
        (0.00001, 0.00001),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str | float, seconds: float) -> None:
    """A duration is a number with the unit ms, s, m or h, or a bare number of seconds."""
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", " ", "s", "-5s", "5 days", "5sm", "1,5s", "1e3", "٣s", "5s\n5s", "9" * 400, True, None, [], {}, float("nan")],
    ids=lambda text: repr(text)[:12],
)
def test_anything_else_is_refused(text: Any) -> None:
    """Anything but a finite duration is rejected with examples of valid ones."""
    with pytest.raises(ValueError, match="is not a duration; write it as 500ms, 30s, 10m or a number of seconds"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0ms"),
        (0.012, "12ms"),
        (0.9994, "999ms"),
        (0.9996, "1.0s"),
        (1.94, "1.9s"),
        (59.94, "59.9s"),
        (59.96, "1m 0s"),
        (125, "2m 5s"),
        (3599.7, "1h 0m"),
        (7325, "2h 2m"),
    ],
)
def test_a_duration_is_shown_as_a_person_says_it(seconds: float, text: str) -> None:
    """The unit fits the size, and rounding never gives 60 seconds or 1000 milliseconds."""
    assert render_duration(seconds) == text
