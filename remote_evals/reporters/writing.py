"""Scrubs secrets out of a report, and writes reports; no other reporter writes to disk.

A report is scrubbed as a whole, before any of it is cut, wrapped or escaped: half a secret is no longer recognised. A
secret may be the same as a word of this package or of the protocol. Fields that hold only such words keep them, since
a report with `[redacted]` in place of "error" or REMOTE_STATUS hides nothing and misleads.
"""

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
from ..results import ASSERTION_KEYS, FINISH_REASONS, AssertionResult, CaseError, EvalReport, RunResult
from .json_report import render_json_report

_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")

_FIELDS_OF_FIXED_WORDS = {"status", "kind", "outcome", "missing"}
_ERROR_CODE = re.compile("[A-Z]+(_[A-Z]+)*")


def scrub_report(report: EvalReport, redactor: Redactor) -> EvalReport:
    """Return the report with every free text in it scrubbed, including text inside JSON values."""
    scrubbed: EvalReport = _scrub(report, redactor)
    return scrubbed


def write_report(path: Path, text: str) -> None:
    """Write a report as UTF-8, all of it or nothing, so that an earlier report is never lost.

    Only the owner can read the file, since it contains transcripts; missing folders are created. A device or a pipe,
    such as /dev/stdout, is written to directly. Raises `OSError` if the report cannot be written.
    """
    data = text.encode("utf-8", "backslashreplace")
    if _is_stream(path):
        with path.open("ab") as stream:
            stream.write(data)
    else:
        # A link stays, and the file that it points to is replaced.
        _write_and_move(Path(os.path.realpath(path)), data, os.replace)


def save_report(report: EvalReport, folder: Path, now: datetime) -> Path:
    """Write the report as JSON to a new file in the folder, `eval-20260301T120000Z.json`, and return its path.

    The name is the time in UTC, followed by `-2`, `-3` and so on if it is taken: an earlier report is never replaced.
    The file is complete or absent, and only its owner can read it. Raises `OSError` as `write_report` does.
    """
    data = render_json_report(report).encode()
    stem = f"eval-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    names = (f"{stem}{'' if number == 1 else f'-{number}'}.json" for number in count(1))
    return next(path for path in map(folder.joinpath, names) if _write_if_new(path, data))


def append_text(path: Path, text: str) -> None:
    """Append text as UTF-8, ending in a line break, to a file that others write to as well: GITHUB_STEP_SUMMARY.

    Raises `OSError` if it cannot be written.
    """
    with path.open("ab") as file:
        file.write(f"{text.removesuffix(chr(10))}\n".encode("utf-8", "backslashreplace"))


def _scrub(value: Any, redactor: Redactor) -> Any:
    match value:
        case BaseModel():
            free = [(name, item) for name, item in value if name not in _FIELDS_OF_FIXED_WORDS]
            return value.model_copy(update={name: _scrub_field(value, name, item, redactor) for name, item in free})
        case tuple():
            return tuple(_scrub(item, redactor) for item in value)
        case int() | float():
            return value
        case _:
            return redactor.scrub_value(to_json_value(value))


def _scrub_field(model: BaseModel, name: str, value: Any, redactor: Redactor) -> Any:
    match model, name:
        case CaseError(), "code" if _ERROR_CODE.fullmatch(value):
            return value
        case RunResult(), "finish_reason" if value in FINISH_REASONS:
            return value
        case AssertionResult(), "key":
            # After the colon is text from a suite.
            word, colon, text = value.partition(":")
            return f"{word}{colon}{redactor.scrub(text)}" if word in ASSERTION_KEYS else redactor.scrub(value)
    return _scrub(value, redactor)


def _is_stream(path: Path) -> bool:
    # When redirected to a file, /dev/stdout is a regular file, but its name must never be replaced.
    return str(path).startswith(_STREAMS) or (path.exists() and not path.is_file())


def _write_if_new(path: Path, data: bytes) -> bool:
    """Write a file unless the path is taken, and return whether it was written."""
    try:
        _write_and_move(path, data, _move_to_new_path)
    except FileExistsError:
        # If the folder itself is a file, every name raises this error.
        if not path.parent.is_dir():
            raise
        return False
    return True


def _write_and_move(path: Path, data: bytes, move: Callable[[str, Path], None]) -> None:
    """Write a file beside the path and, once it is complete, move it there."""
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


def _move_to_new_path(name: str, path: Path) -> None:
    """Move a file to a path that does not exist yet. Raises `FileExistsError` if it does."""
    # Creating the path first reserves it; unlike hard links, every file system supports this.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        os.replace(name, path)
    except BaseException:
        os.unlink(path)
        raise
