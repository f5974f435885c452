"""Saved results: a new file for each run, and none is ever replaced."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from remote_evals.reporters import append_text, parse_json_report, save_report
from tests.unit.reporters.report_samples import rich_report

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_report_is_saved_under_its_time(tmp_path: Path) -> None:
    """The file is named after the time in UTC, contains the whole report, and only its owner can read it."""
    now = NOON.astimezone(timezone(timedelta(hours=5)))
    path = save_report(rich_report(), tmp_path / "results", now)
    assert path == tmp_path / "results" / "eval-20260301T120000Z.json"
    assert len(parse_json_report(path.read_text("utf-8")).results) == len(rich_report().results)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_no_saved_report_is_replaced(tmp_path: Path) -> None:
    """Reports of the same second are numbered, even when many are saved at once."""
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: save_report(rich_report(), tmp_path, NOON), range(8)))
    names = {f"eval-20260301T120000Z{number}.json" for number in ("", *(f"-{index}" for index in range(2, 9)))}
    assert {path.name for path in paths} == names == set(os.listdir(tmp_path))
    assert all(parse_json_report(path.read_text("utf-8")).results for path in paths)


def test_a_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    """A file in place of the folder is the error that the system raises."""
    (tmp_path / "results").write_text("old")
    with pytest.raises(FileExistsError):
        save_report(rich_report(), tmp_path / "results", NOON)


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fails, no part of a report is left."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for broken in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, broken, fail)
            with pytest.raises(OSError, match="No space left"):
                save_report(rich_report(), tmp_path, NOON)
        assert list(tmp_path.iterdir()) == []


def test_text_is_appended_in_lines(tmp_path: Path) -> None:
    """Appended text follows what was there and ends its line, even if it is not valid UTF-8."""
    path = tmp_path / "summary.md"
    path.write_text("first\n")
    append_text(path, "日本")
    append_text(path, "\ud83d\n")
    assert path.read_text("utf-8") == "first\n日本\n\\ud83d\n"
