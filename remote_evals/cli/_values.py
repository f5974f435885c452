"""How the values of options are read."""

import re
from collections.abc import Sequence

from ..core.durations import parse_duration
from ..errors import UsageError

_HEADER = re.compile(r"([^=:\s]+)\s*[=:]\s*(.*)")


def split_commas(values: Sequence[str] | None) -> list[str]:
    """Return the values of a repeatable option, each of which may hold several with commas between."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]


def read_duration(option: str, text: str | None) -> float | None:
    """Return the seconds that an option gives, None where it is not given. Raises `UsageError` naming the option."""
    try:
        return None if text is None else parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def split_headers(option: str, headers: Sequence[str] | None, form: str) -> dict[str, str]:
    """Return the headers that a repeatable option gives. Raises `UsageError` naming the option and the form."""
    found = [_HEADER.fullmatch(header) for header in headers or ()]
    if None in found:
        # The text is not repeated: what looks broken may still hold a credential.
        raise UsageError(f"{option} number {found.index(None) + 1} is not a header; write it as {form}")
    return {header[1]: header[2] for header in found if header}
