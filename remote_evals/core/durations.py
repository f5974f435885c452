"""Durations as people write them ("500ms", "30s", "10m") and as code keeps them: seconds."""

import re

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_S = 366 * 24 * 3600.0
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*", re.ASCII)


def parse_duration(text: str | float) -> float:
    """Return the seconds of a duration: a number with the unit ms, s, m or h, or a bare number of seconds.

    Raises `ValueError` for anything else, for a negative duration and for one of more than a year.
    """
    if isinstance(text, int | float) and not isinstance(text, bool) and 0 <= text <= _LONGEST_S:
        return float(text)
    match = _DURATION.fullmatch(str(text))
    seconds = float(match[1]) * _UNITS_S[match[2] or "s"] if match else -1.0
    if isinstance(text, bool) or not 0 <= seconds <= _LONGEST_S:
        raise ValueError(f"{text!r} is not a duration; write it as 500ms, 30s, 10m or a number of seconds")
    return seconds


def render_duration(seconds: float) -> str:
    """Return a duration for a person to read: "12ms", "1.9s", "2m 5s", "1h 0m"."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60}m"
