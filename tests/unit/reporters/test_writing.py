"""Reports on disk: complete or absent, private, and never at the cost of an earlier report."""

import os
import stat
import sys
import threading
from pathlib import Path
from subprocess import run

import pytest

from remote_evals.reporters import write_report


def write(path: Path, text: str = "new") -> None:
    write_report(path, text)


def test_a_report_is_written_with_its_folders(tmp_path: Path) -> None:
    """Missing folders are created, and only the owner can read the file."""
    path = tmp_path / "a" / "b" / "report.json"
    write(path, "日本\n")
    assert path.read_bytes() == "日本\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_earlier_report_is_replaced(tmp_path: Path) -> None:
    """A second report replaces the first, and leaves no other file."""
    path = tmp_path / "report.json"
    path.write_text("old, and longer")
    write(path)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_text_that_is_no_utf8_is_written_escaped(tmp_path: Path) -> None:
    """A lone surrogate is written as an escape."""
    write(tmp_path / "report", "\ud83d")
    assert (tmp_path / "report").read_text() == r"\ud83d"


def test_a_failed_write_keeps_the_earlier_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fails, the error is raised, the old report stays, and no other file is left."""
    path = tmp_path / "report.json"
    path.write_text("old")

    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_path_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    """A file in place of a folder is an `OSError`, and stays."""
    (tmp_path / "file").write_text("old")
    with pytest.raises(OSError, match="file"):
        write(tmp_path / "file" / "report.json")
    assert (tmp_path / "file").read_text() == "old"


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    """A folder in place of the report is an `OSError`."""
    with pytest.raises(IsADirectoryError):
        write(tmp_path)


def test_a_link_is_kept(tmp_path: Path) -> None:
    """The file that a link points to is replaced, not the link."""
    (tmp_path / "folder").mkdir()
    link = tmp_path / "latest.json"
    link.symlink_to(tmp_path / "folder" / "report.json")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "folder" / "report.json").read_text() == "new"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_a_full_device_is_an_error() -> None:
    """A device that is full is an `OSError`, and stays a device."""
    with pytest.raises(OSError, match="No space left"):
        write(Path("/dev/full"))
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_device_is_written_to() -> None:
    """A device is never replaced by a file."""
    write(Path(os.devnull))
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """The reader of a named pipe gets the report."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=write, args=(path,))
    writer.start()
    assert path.read_text() == "new"
    writer.join()


@pytest.mark.parametrize("redirected", [False, True])
def test_standard_output_is_written_to(tmp_path: Path, redirected: bool) -> None:
    """/dev/stdout appends to the pipe or the file that it is redirected to."""
    code = "from test_writing import *; print('first', flush=True); write(Path('/dev/stdout'))"
    command = [sys.executable, "-c", code]
    folder = Path(__file__).parent
    if not redirected:
        assert run(command, cwd=folder, capture_output=True, check=True).stdout == b"first\nnew"
        return
    with (tmp_path / "out").open("wb") as out:
        run(command, cwd=folder, stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"first\nnew"
    assert Path("/dev/stdout").is_symlink()
