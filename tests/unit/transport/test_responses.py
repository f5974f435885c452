"""When a server that limits its rate may be asked again."""

from datetime import UTC, datetime

import pytest

from remote_evals.transport.responses import parse_retry_after

NOW = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("3600", 60.0),
        ("Sat, 31 Jan 2026 12:00:20 GMT", 20.0),
        ("Sat, 31 Jan 2026 12:00:20 -0000", 20.0),
        ("Sat, 31 Jan 2026 11:00:00 GMT", 0.0),
        ("Sun, 01 Feb 2026 12:00:00 GMT", 60.0),
        (None, None),
        ("", None),
        ("-1", None),
        ("soon", None),
        ("nan", None),
        ("Sat, 31 Jan 99999999 12:00:00 GMT", None),
    ],
)
def test_both_forms_of_the_header_are_read_and_capped(header: str | None, seconds: float | None) -> None:
    """Seconds and dates are read, at most a minute is waited, and what is neither is no reason to wait."""
    assert parse_retry_after(header, NOW) == seconds
