"""When a server asks to be asked again: the header Retry-After."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"\s*[0-9]{1,9}(?:\.[0-9]{1,9})?\s*")


def parse_retry_after(text: str | None, now: datetime, at_most_s: float = 60.0) -> float | None:
    """Return the seconds to wait, 0 to `at_most_s`: the header gives them, or the date when to come back.

    None for no header and for one that is neither. Source: RFC 9110, section 10.2.3.
    """
    if text is None:
        return None
    if _SECONDS.fullmatch(text):
        return min(float(text), at_most_s)
    try:
        date = parsedate_to_datetime(text)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return min(max((date - now).total_seconds(), 0.0), at_most_s)
    except (ValueError, OverflowError):
        return None
