"""An error and what led to it: which of that may be kept, and what must be forgotten."""

import re
from collections.abc import Callable, Iterator

_QUERY = re.compile(r"https?://[^\s'\"]*\?")


def forget_frames(error: BaseException) -> BaseException:
    """Return an error without the frames it passed: aiohttp's hold the Authorization header as a local."""
    for cause in causes_of(error):
        cause.__traceback__ = cause.__context__ = None
    return error


def keep_cause(error: BaseException | None, scrub: Callable[[str], str]) -> BaseException | None:
    """Return an error that may be shown as a cause; None where it, or what led to it, holds a secret or a query."""
    shown = "".join(f"{cause!r} {cause} {vars(cause)!r}" for cause in causes_of(error))
    return error if scrub(shown) == shown and not _QUERY.search(shown) else None


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, what caused it, and so on to the first cause."""
    while error is not None:
        yield error
        error = error.__cause__
