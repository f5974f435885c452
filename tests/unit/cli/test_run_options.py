"""The options for time limits and readiness."""

import math

import pytest

from remote_evals import Limits, UsageError
from remote_evals.cli.options import parse_duration_option
from remote_evals.cli.run_options import RunLimitOptions, TurnLimitOptions
from remote_evals.cli.target_options import ReadinessOptions

OPTIONS = {
    "connect_timeout": "connect_s",
    "headers_timeout": "headers_s",
    "first_event_timeout": "first_event_s",
    "silence_timeout": "silence_s",
    "turn_timeout": "turn_s",
}


def parse_limits(**given: str) -> Limits:
    return TurnLimitOptions(**given).parse()


@pytest.mark.parametrize(("option", "field"), OPTIONS.items())
def test_an_option_sets_its_own_limit(option: str, field: str) -> None:
    """Each option sets one limit, and 0 removes it; the others keep their defaults."""
    assert parse_limits() == Limits()
    for text, seconds in (("1500ms", 1.5), ("3m", 180.0), ("7", 7.0), ("0", math.inf)):
        given = parse_limits(**{option: text})
        assert getattr(given, field) == seconds
        assert all(getattr(given, other) == getattr(Limits(), other) for other in OPTIONS.values() if other != field)


@pytest.mark.parametrize("option", OPTIONS)
def test_what_is_no_duration_names_its_option(option: str) -> None:
    """The error for an invalid duration names its option, and shows how to write a duration."""
    with pytest.raises(UsageError, match=f"--{option.replace('_', '-')}: 'soon' is not a duration; write it as 500ms"):
        parse_limits(**{option: "soon"})


@pytest.mark.parametrize(("text", "seconds"), [(None, None), ("0", 0.0), ("2m", 120.0)])
def test_an_option_that_is_not_given_is_none(text: str | None, seconds: float | None) -> None:
    """None leaves the value to the settings, while 0 sets no limit."""
    assert parse_duration_option("--timeout", text) == seconds


def test_the_limits_of_cases_and_of_the_run() -> None:
    """Each limit is parsed from its own option, and None leaves it to the settings."""
    assert RunLimitOptions().parse() == (None, None)
    assert RunLimitOptions("30s", "0").parse() == (30.0, 0.0)


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (RunLimitOptions(timeout="soon"), "--timeout"),
        (RunLimitOptions(max_time="soon"), "--max-time"),
        (ReadinessOptions(wait="soon"), "--wait"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_duration_is_told(options: RunLimitOptions | ReadinessOptions, option: str) -> None:
    """The error for an invalid wait, or limit of a case or run, names its option."""
    with pytest.raises(UsageError, match=f"{option}: 'soon' is not a duration"):
        options.parse()


def test_expected_headers_are_names_and_values() -> None:
    """`--expect-header` accepts a header written with a colon or an equals sign, and colons in its value."""
    assert ReadinessOptions().parse() == (None, {})
    given = ReadinessOptions("9s", ["X-Version: 1.4.2", "X-Built=2026-01-01T10:00"])
    assert given.parse() == (9.0, {"X-Version": "1.4.2", "X-Built": "2026-01-01T10:00"})
    with pytest.raises(UsageError, match="--expect-header number 2 is not a header; write it as NAME: VALUE"):
        ReadinessOptions(expect_headers=["X-Version: 1", "1.4.2"]).parse()
