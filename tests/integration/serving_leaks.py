"""Where a token could leak, and a look into all of it."""

import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path

TOKEN = "t0k3n-" + "qW7x" * 5
API_KEY = "k3y-" + "Zp9r" * 5
PROXY_PASSWORD = "pr0xy-" + "mN2v" * 5

_TESTS = str(Path(__file__).parent)


def ways_to_show(error: BaseException) -> Iterator[tuple[str, str]]:
    """Yield how an error can be shown, and what is seen then: as text, pickled, and with every frame's locals."""
    for link in _links(error):
        name = type(link).__name__
        yield f"repr of {name}", f"{link!r} {link} {link.args!r} {vars(link)!r}"
        yield f"locals of {name}", _show_frames(link)
    yield "traceback", "".join(traceback.format_exception(error))
    yield "pickle", pickle.dumps(error).decode("latin-1")


def assert_no_leak(shown: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> None:
    """Assert that no secret is in any text, and name those in which one is."""
    leaks = [f"{name}: {_around(text)}" for name, text in shown if _find(text) >= 0]
    assert not leaks, "\n".join(leaks)


def assert_error_keeps_secrets(error: BaseException) -> None:
    """Assert that no way to show an error shows a secret."""
    assert_no_leak(ways_to_show(error))


def _around(text: str) -> str:
    at = _find(text)
    return f"…{text[max(at - 200, 0) : at + 60]}…"


def _find(text: str) -> int:
    return max(text.find(secret) for secret in (TOKEN, API_KEY, PROXY_PASSWORD))


def _links(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, as Python's own traceback and the trackers of errors follow it."""
    link: BaseException | None = error
    while link:
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _show_frames(error: BaseException) -> str:
    """Return the traceback as trackers of errors make it, with the locals of each frame but those of the tests."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "\n".join(
        f"{frame.filename}:{frame.lineno} {frame.name}: {frame.locals}"
        for frame in shown.stack
        if not frame.filename.startswith(_TESTS)
    )
