"""Ctrl-C and SIGTERM, as the process meets them: the first reports what is done, the second ends it."""

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
    """The case that was done stands in summary and report, the hanging one as skipped with what it had said."""
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
    """A pattern that would be tried for years keeps the process busy, and no longer than to the second signal."""
    suite = write(tmp_path, r"cases: [{name: a, prompt: x, expected_output_matches: '(a+)+$'}]")
    with serve({"text": "a" * 60 + "!"}) as server, starting("run", suite, "--url", server.url) as process:
        wait_until(lambda: len(server.requests) == 1)
        # Only the pattern takes so much time of a processor once the request was sent.
        wait_for_work(process.pid, 0.5)
        process.send_signal(number)
        wait_for_work(process.pid, 0.1)
        out, err = end(process, number)
    assert process.returncode == CODES[number], out + err
    assert "Traceback" not in out + err


def test_a_second_signal_ends_what_will_not_be_ended(tmp_path: Path) -> None:
    """An eval that takes no cancellation for an answer is cut off by the second signal, without a report."""
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
    """A case that is cut off in a thread leaves that thread, and neither the reports nor the process wait for it."""
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
    """Before anything is sent there is nothing to report: the first signal is enough."""
    path = tmp_path / "slow_eval.py"
    path.write_text("import time, pathlib\npathlib.Path('begun').touch()\ntime.sleep(60)\n")
    with starting("run", path.name, cwd=tmp_path) as process:
        wait_until((tmp_path / "begun").exists)
        out, err = end(process, number)
    assert process.returncode == CODES[number], out + err
    assert "Traceback" not in out + err


@both
def test_a_signal_ends_the_wait_for_a_deployment(tmp_path: Path, number: signal.Signals) -> None:
    """While a deployment is waited for nothing was sent, and the reports say so."""
    suite, report = write(tmp_path, "cases: [{name: a, prompt: x}]"), tmp_path / "r.json"
    with serve(health={"fault": "unavailable"}) as server:
        with starting("run", suite, "--url", server.url, "--wait", "60s", "--json", report) as process:
            wait_until(lambda: len(server.requests) > 0)
            out, err = end(process, number)
        assert {request.path for request in server.requests} == {"/health"}
    assert process.returncode == CODES[number], out + err
    assert statuses(report) == (True, [("skipped", "INTERRUPTED")])


def test_a_signal_ends_the_wait_for_a_judge(tmp_path: Path) -> None:
    """A case whose judge is being asked is skipped, and its reply is kept."""
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
    """Return a pipe that nobody reads, so that whoever writes a report to it waits."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_reports_that_are_being_written_are_finished(tmp_path: Path, pipe: Path) -> None:
    """A signal after the last case costs no report: it only decides the exit code."""
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
    """A report that does not come to its end is given up; every other one is whole or not there."""
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
    """Start the command; it is killed at the end where it still runs."""
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
    """Send a signal and return what the process had printed at its end, which must be near."""
    process.send_signal(number)
    return process.communicate(timeout=20)


def statuses(report: Path) -> tuple[bool, list[tuple[str, str | None]]]:
    """Return whether a report is one of an interrupted run, and its rows."""
    written = json.loads(report.read_text("utf-8"))
    return written["interrupted"], [(row["status"], (row["error"] or {}).get("code")) for row in written["results"]]


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so; the other side is a process, so there is no event to await."""
    over = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < over
        time.sleep(0.01)


def wait_for_work(pid: int, seconds: float) -> None:
    """Wait until a process has taken so many more seconds of a processor."""
    start = cpu_seconds(pid)
    wait_until(lambda: cpu_seconds(pid) >= start + seconds)


def cpu_seconds(pid: int) -> float:
    """Return the seconds of a processor that a process took so far; see proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
