"""The one place where a report goes to disk."""

import os
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..core.json_values import to_json_value
from ..redaction import Redactor
from ..results import ASSERTION_KEYS, AssertionResult, CaseError, EvalReport, RunResult
from .json_report import render_json_report

_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


def write_report(path: Path, text: str) -> None:
    """Write a report as UTF-8: the whole of it or nothing, so that an earlier report is never lost.

    The file is readable by its owner alone, since it holds transcripts; folders are made as needed. A device or a
    pipe, such as /dev/stdout, is written to as it is. Raises `OSError` when the report cannot be written.
    """
    data = text.encode("utf-8", "backslashreplace")
    if _is_stream(path):
        with path.open("ab") as stream:
            stream.write(data)
    else:
        # A link is kept and what it leads to is replaced.
        _place(Path(os.path.realpath(path)), data, os.replace)


def save_report(report: EvalReport, folder: Path, now: datetime) -> Path:
    """Write the report as JSON to a new file of the folder, `eval-20260301T120000Z.json`, and return its path.

    The name is the time in UTC; where it is taken, `-2`, `-3` and so on follow, since an earlier report is never
    replaced. The file is whole or not there, and readable by its owner alone. Raises `OSError` as `write_report` does.
    """
    data = render_json_report(report).encode()
    stem = f"eval-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    names = (f"{stem}{'' if number == 1 else f'-{number}'}.json" for number in count(1))
    return next(path for path in map(folder.joinpath, names) if _is_placed(path, data))


def append_text(path: Path, text: str) -> None:
    """Append text as UTF-8, ending in a line break, to a file that others write to too: GITHUB_STEP_SUMMARY.

    Raises `OSError` when it cannot be written.
    """
    with path.open("ab") as file:
        file.write(f"{text.removesuffix(chr(10))}\n".encode("utf-8", "backslashreplace"))


def _is_placed(path: Path, data: bytes) -> bool:
    try:
        _place(path, data, _take_name)
    except FileExistsError:
        # A folder that is a file raises the same, for ever.
        if not path.parent.is_dir():
            raise
        return False
    return True


def _is_stream(path: Path) -> bool:
    # Redirected to a file, /dev/stdout is a regular one, but its name must never be replaced.
    return str(path).startswith(_STREAMS) or (path.exists() and not path.is_file())


def _place(path: Path, data: bytes, move: Callable[[str, Path], None]) -> None:
    """Write a file beside the path and move it there once it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".remote-evals-", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        move(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _take_name(name: str, path: Path) -> None:
    """Move a file to a path that nobody has yet. Raises `FileExistsError` when somebody has."""
    # Created first, the path is ours: unlike a hard link, every file system can do that.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        os.replace(name, path)
    except BaseException:
        os.unlink(path)
        raise


_WORDS = {"status", "kind", "outcome", "missing"}
_CODE = re.compile("[A-Z]+(_[A-Z]+)*")
_FINISH_REASONS = {
    *("stop", "length", "max-steps", "awaiting-approval", "aborted", "error", "budget-exceeded", "guardrail"),
    *("output-invalid", "content-filter"),
}


def scrub_report(report: EvalReport, redactor: Redactor) -> EvalReport:
    """Return the report with every free text in it scrubbed, those inside JSON values too."""
    scrubbed: EvalReport = _scrub(report, redactor)
    return scrubbed


def _scrub(value: Any, redactor: Redactor) -> Any:
    match value:
        case BaseModel():
            fields = {name: _scrub_field(value, name, item, redactor) for name, item in value if name not in _WORDS}
            return value.model_copy(update=fields)
        case tuple():
            return tuple(_scrub(item, redactor) for item in value)
        case int() | float():
            return value
        case _:
            return redactor.scrub_value(to_json_value(value))


def _scrub_field(model: BaseModel, name: str, value: Any, redactor: Redactor) -> Any:
    match model, name:
        case CaseError(), "code" if _CODE.fullmatch(value):
            return value
        case RunResult(), "finish_reason" if value in _FINISH_REASONS:
            return value
        case AssertionResult(), "key":
            # Behind the colon stands what somebody wrote.
            word, colon, text = value.partition(":")
            return f"{word}{colon}{redactor.scrub(text)}" if word in ASSERTION_KEYS else redactor.scrub(value)
    return _scrub(value, redactor)
