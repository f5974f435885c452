"""Ctrl-C and SIGTERM sent to the real process: the first reports what is done, the second ends the process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.serving.command import clean_environment
from tests.serving.deployments import serve

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}

both = pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)


@both
def test_a_signal_reports_what_is_done(tmp_path: Path, number: signal.Signals) -> None:
    """Summary and report contain the finished case, and the hanging case as skipped."""
    suite, report = write(tmp_path, "cases: [{name: a, prompt: x}, {name: b, prompt: hang}]"), tmp_path / "r.json"
    hanging = {"when": {"input": "hang"}, "text": "a b c", "fault": {"name": "silence", "after": 3}}
    with (
        serve(hanging, {"text": "all good"}) as server,
        starting("run", suite, "--url", server.url, "--concurrency", 1, "--json", report) as process,
    ):
        wait_until(lambda: len(server.requests) == 2)
        out, err = end(process, number)
    assert process.returncode == CODES[number], out + err
    assert "[PASS] a" in out
    assert "[SKIP] b" in out
    assert "Traceback" not in out + err
    assert statuses(report) == (True, [("passed", None), ("skipped", "INTERRUPTED")])


@both
def test_a_second_signal_ends_a_regular_expression_without_end(tmp_path: Path, number: signal.Signals) -> None:
    """A second signal ends the process even while a regular expression blocks the event loop."""
    suite = write(tmp_path, r"cases: [{name: a, prompt: x, expected_output_matches: '(a+)+$'}]")
    with serve({"text": "a" * 60 + "!"}) as server, starting("run", suite, "--url", server.url) as process:
        wait_until(lambda: len(server.requests) == 1)
        # After the request is sent, only the pattern uses this much CPU time.
        wait_for_cpu_time(process.pid, 0.5)
        process.send_signal(number)
        wait_for_cpu_time(process.pid, 0.1)
        out, err = end(process, number)
    assert process.returncode == CODES[number], out + err
    assert "Traceback" not in out + err


def test_a_second_signal_ends_what_will_not_be_ended(tmp_path: Path) -> None:
    """The second signal ends an eval that ignores cancellation, and no report is written."""
    path, report = tmp_path / "stubborn_eval.py", tmp_path / "r.json"
    path.write_text(
        """import asyncio
from pathlib import Path

from remote_evals import define_eval


@define_eval(name="stubborn", agent=lambda prompt: prompt)
async def stubborn(t):
    while True:
        try:
            Path("begun").touch()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            Path("asked").touch()
"""
    )
    with starting("run", path.name, "--json", report, cwd=tmp_path) as process:
        wait_until((tmp_path / "begun").exists)
        process.send_signal(signal.SIGINT)
        wait_until((tmp_path / "asked").exists)
        out, err = end(process, signal.SIGTERM)
    assert process.returncode == 143, out + err
    assert not report.exists()


def test_a_thread_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    """Neither the reports nor the process wait for the thread of a case that was interrupted."""
    path, report = tmp_path / "threaded_eval.py", tmp_path / "r.json"
    path.write_text(
        """import asyncio
import time
from pathlib import Path

from remote_evals import define_eval


def hang():
    Path("begun").touch()
    time.sleep(60)


@define_eval(name="threaded", agent=lambda prompt: prompt)
async def threaded(t):
    await asyncio.to_thread(hang)
"""
    )
    with starting("run", path.name, "--json", report, cwd=tmp_path) as process:
        wait_until((tmp_path / "begun").exists)
        out, err = end(process, signal.SIGINT)
    assert process.returncode == 130, out + err
    assert statuses(report) == (True, [("skipped", "INTERRUPTED")])


@both
def test_a_signal_ends_what_is_still_being_loaded(tmp_path: Path, number: signal.Signals) -> None:
    """The first signal ends the process while suites are loading, because there is nothing to report."""
    path = tmp_path / "slow_eval.py"
    path.write_text("import time, pathlib\npathlib.Path('begun').touch()\ntime.sleep(60)\n")
    with starting("run", path.name, cwd=tmp_path) as process:
        wait_until((tmp_path / "begun").exists)
        out, err = end(process, number)
    assert process.returncode == CODES[number], out + err
    assert "Traceback" not in out + err


@both
def test_a_signal_ends_the_wait_for_a_deployment(tmp_path: Path, number: signal.Signals) -> None:
    """A signal during `--wait` skips every case, nothing is sent, and the report is written."""
    suite, report = write(tmp_path, "cases: [{name: a, prompt: x}]"), tmp_path / "r.json"
    with serve(health={"fault": "unavailable"}) as server:
        with starting("run", suite, "--url", server.url, "--wait", "60s", "--json", report) as process:
            wait_until(lambda: len(server.requests) > 0)
            out, err = end(process, number)
        assert {request.path for request in server.requests} == {"/health"}
    assert process.returncode == CODES[number], out + err
    assert statuses(report) == (True, [("skipped", "INTERRUPTED")])


def test_a_signal_ends_the_wait_for_a_judge(tmp_path: Path) -> None:
    """A case interrupted while its judge is being asked is skipped, and its reply is kept."""
    suite, report = write(tmp_path, "cases: [{name: a, prompt: x, rubric: Is polite.}]"), tmp_path / "r.json"
    judge = {"fault": "no-headers", "replies": [{"content": "1"}]}
    with serve({"text": "Good day."}, judge=judge) as server:
        env = {"REMOTE_EVALS_JUDGE_URL": server.url, "REMOTE_EVALS_JUDGE_MODEL": "m"}
        with starting("run", suite, "--url", server.url, "--judge", "--json", report, env=env) as process:
            wait_until(lambda: len(server.requests) == 2)
            out, err = end(process, signal.SIGTERM)
    assert process.returncode == 143, out + err
    assert statuses(report) == (True, [("skipped", "INTERRUPTED")])
    assert json.loads(report.read_text("utf-8"))["results"][0]["reply"] == "Good day."


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return a pipe without a reader, so that writing a report to it blocks."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_reports_that_are_being_written_are_finished(tmp_path: Path, pipe: Path) -> None:
    """After the last case, a signal only decides the exit code; all reports are written."""
    suite, report = write(tmp_path, "cases: [{name: a, prompt: x}]"), tmp_path / "r.json"
    with (
        serve() as server,
        starting("run", suite, "--url", server.url, "--json", report, "--junit", pipe) as process,
    ):
        wait_until(report.exists)
        process.send_signal(signal.SIGTERM)
        junit = pipe.read_text("utf-8")
        out, err = process.communicate(timeout=20)
    assert process.returncode == 143, out + err
    assert junit.rstrip().endswith("</testsuites>")
    assert statuses(report) == (False, [("passed", None)])


def test_a_second_signal_ends_the_writing_of_reports(tmp_path: Path, pipe: Path) -> None:
    """A second signal ends the process while a report is written; every other report is complete or absent."""
    suite, reports = write(tmp_path, "cases: [{name: a, prompt: x}]"), tmp_path / "reports"
    with serve() as server:
        args = ["--url", server.url, "--json", reports / "r.json", "--junit", pipe, "--markdown", reports / "r.md"]
        with starting("run", suite, *args) as process:
            wait_until((reports / "r.json").exists)
            process.send_signal(signal.SIGINT)
            out, err = end(process, signal.SIGTERM)
    assert process.returncode == 143, out + err
    assert "Traceback" not in out + err
    assert [path.name for path in reports.iterdir()] == ["r.json"]
    assert statuses(reports / "r.json") == (False, [("passed", None)])


def write(folder: Path, text: str) -> Path:
    path = folder / "s.eval.yaml"
    path.write_text(text, "utf-8")
    return path


@contextmanager
def starting(*args: object, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """Start the command, and kill it at the end of the block if it is still running."""
    env = clean_environment(options.pop("env", None))
    command = [sys.executable, "-m", "remote_evals", *map(str, args)]
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def end(process: "subprocess.Popen[str]", number: signal.Signals) -> tuple[str, str]:
    """Send a signal and return the output of the process, which must end within 20 s."""
    process.send_signal(number)
    return process.communicate(timeout=20)


def statuses(report: Path) -> tuple[bool, list[tuple[str, str | None]]]:
    """Return whether the report's run was interrupted, and the status and error code of each result."""
    written = json.loads(report.read_text("utf-8"))
    return written["interrupted"], [(row["status"], (row["error"] or {}).get("code")) for row in written["results"]]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; it depends on another process, so there is no event to await."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait_for_cpu_time(pid: int, seconds: float) -> None:
    """Wait until a process has used this many more seconds of CPU time."""
    start = read_cpu_time(pid)
    wait_until(lambda: read_cpu_time(pid) >= start + seconds)


def read_cpu_time(pid: int) -> float:
    """Return the seconds of CPU time that a process has used; see proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
