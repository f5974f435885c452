"""Secrets of every kind where they could leak, and checks of every form in which errors and reports are shown."""

import base64
import html
import pickle
import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from remote_evals import EvalReport, render_json_report, render_junit, render_summary
from remote_evals.reporters import render_annotations, render_markdown

TOKEN = "t0k3n-" + "qW7x" * 5
API_KEY = "k3y-" + "Zp9r" * 5
TENANT = "t3n4nt-" + "Hb4c" * 5
COOKIE = "c00k13-" + "Ys8d" * 5
QUERY_KEY = "qu3ry-" + "Lf6g" * 5
PROXY_PASSWORD = "pr0xy-" + "mN2v" * 5

# Every secret that a target can be given, and an answer of a deployment that repeats them.
SECRETS: dict[str, Any] = {
    "token": TOKEN,
    "headers": {"X-Api-Key": API_KEY, "X-Tenant": TENANT, "Cookie": f"theme=dark; sid={COOKIE}"},
    "secret_headers": ["X-Tenant"],
}
QUERY = f"?api_key={QUERY_KEY}"
ECHO = f"you sent {TOKEN}, {API_KEY}, {TENANT}, {COOKIE} and {QUERY_KEY}"
REDACTED_ECHO = "you sent [redacted], [redacted], [redacted], [redacted] and [redacted]"

_TESTS = str(Path(__file__).parents[1])


def ways_to_show(error: BaseException) -> Iterator[tuple[str, str]]:
    """Yield every form of an error with its name: as text, pickled, and with the locals of every frame."""
    for each in _get_chain(error):
        name = type(each).__name__
        yield f"repr of {name}", f"{each!r} {each} {each.args!r} {vars(each)!r}"
        yield f"locals of {name}", _show_frames(each)
    yield "traceback", "".join(traceback.format_exception(error))
    yield "pickle", pickle.dumps(error).decode("latin-1")


def ways_to_report(report: EvalReport) -> Iterator[tuple[str, str]]:
    """Yield every form of a report with its name."""
    yield "repr", repr(report)
    yield "model", report.model_dump_json()
    for render in (render_json_report, render_junit, render_summary, render_markdown, render_annotations):
        yield render.__name__, render(report)


def assert_no_leak(shown: Iterable[tuple[str, str]], *secrets: str) -> None:
    """Assert that no text has one of these secrets, by default of all above; the message names the texts that do."""
    known = secrets or (TOKEN, API_KEY, TENANT, COOKIE, QUERY_KEY, PROXY_PASSWORD)
    leaks = [f"{name}: {found}" for name, text in shown if (found := _find(text, known))]
    assert not leaks, "\n".join(leaks)


def assert_error_keeps_secrets(error: BaseException) -> None:
    """Assert that no form of an error shows a secret."""
    assert_no_leak(ways_to_show(error))


def base64_cores(secret: str) -> Iterator[str]:
    """Yield what the base64 of a longer text contains if the secret is in it, at any offset."""
    for offset in range(3):
        yield base64.b64encode(bytes(offset) + secret.encode()).decode()[4:-4]


def _find(text: str, secrets: Sequence[str]) -> str | None:
    """Return the text around a secret in any spelling, or None."""
    spellings = [spelling.lower() for secret in secrets for spelling in (secret, *base64_cores(secret))]
    for view in _views(text):
        at = max(view.lower().find(spelling) for spelling in spellings)
        if at >= 0:
            return f"…{view[max(at - 200, 0) : at + 60]}…"
    return None


def _views(text: str) -> Iterator[str]:
    """Yield the text as it is, and as it reads after escapes are undone once, twice and three times."""
    yield text
    for _ in range(3):
        text = html.unescape(unquote(text))
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
        yield text
        yield (text := re.sub(r"\\(.)", r"\1", text))


def _get_chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, in the order in which Python's tracebacks and error trackers follow them."""
    current: BaseException | None = error
    while current:
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _show_frames(error: BaseException) -> str:
    """Return the traceback as error trackers make it, with the locals of each frame outside the tests."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "\n".join(
        f"{frame.filename}:{frame.lineno} {frame.name}: {frame.locals}"
        for frame in shown.stack
        if not frame.filename.startswith(_TESTS)
    )
