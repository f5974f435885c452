"""Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fake_server import FakeServer, parse_script
from tests.integration.command import clean_environment

SCRIPT = "replies: [{when: {input: hang}, text: a b c, fault: {name: silence, after: 3}}, {text: all good}]"


def test_ctrl_c_reports_what_is_done_and_is_130(tmp_path: Path) -> None:
    """The case that was done stands in summary and report, the hanging one as skipped, and the exit code is 130."""
    suite, report = tmp_path / "s.eval.yaml", tmp_path / "r.json"
    suite.write_text("cases: [{name: a, prompt: x}, {name: b, prompt: hang}]", "utf-8")
    with FakeServer(parse_script(SCRIPT)) as server:
        command = [sys.executable, "-m", "remote_evals", "run", suite, "--url", server.url, "--concurrency", "1"]
        process = subprocess.Popen(
            [*map(str, command), "--json", str(report)],
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_requests(server, 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130, out + err
    assert "[PASS] a" in out
    assert "[SKIP] b" in out
    assert "Traceback" not in out + err
    written = json.loads(report.read_text("utf-8"))
    assert written["interrupted"] is True
    assert [result["status"] for result in written["results"]] == ["passed", "skipped"]


def test_a_second_ctrl_c_ends_a_regular_expression_without_end(tmp_path: Path) -> None:
    """A pattern that would be tried for years keeps the process busy, and no longer than to the second Ctrl-C."""
    suite = tmp_path / "s.eval.yaml"
    suite.write_text(r"cases: [{name: a, prompt: x, expected_output_matches: '(a+)+$'}]", "utf-8")
    command = [sys.executable, "-m", "remote_evals", "run", str(suite), "--url"]
    with (
        FakeServer(parse_script(f"replies: [{{text: {'a' * 60}!}}]")) as server,
        subprocess.Popen(
            [*command, server.url],
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            wait_for_requests(server, 1)
            # Only the pattern takes so much time of a processor once the request was sent.
            wait_for_work(process.pid, 0.5)
            process.send_signal(signal.SIGINT)
            wait_for_work(process.pid, 0.1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130, out + err
    assert "Traceback" not in out + err


def wait_for_work(pid: int, seconds: float) -> None:
    """Wait until a process has taken so many more seconds of a processor."""
    end, start = time.monotonic() + 20, cpu_seconds(pid)
    while cpu_seconds(pid) < start + seconds:
        assert time.monotonic() < end
        time.sleep(0.01)


def cpu_seconds(pid: int) -> float:
    """Return the seconds of a processor that a process took so far; see proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_requests(server: FakeServer, count: int) -> None:
    """Wait until the server was asked so often; the other side is a process, so there is no event to await."""
    end = time.monotonic() + 20
    while len(server.requests) < count:
        assert time.monotonic() < end
        time.sleep(0.01)
