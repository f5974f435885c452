"""The one place where a report goes to disk."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

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
        _replace(Path(os.path.realpath(path)), data)


def _is_stream(path: Path) -> bool:
    # Redirected to a file, /dev/stdout is a regular one, but its name must never be replaced.
    return str(path).startswith(_STREAMS) or (path.exists() and not path.is_file())


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".remote-evals-", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
