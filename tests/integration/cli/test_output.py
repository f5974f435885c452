"""What the command prints and writes."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fake_server import FakeServer, parse_script
from tests.serving.command import ROOT, clean_environment, remote_evals

EXAMPLE = ["examples/refund.eval.yaml", "--fake", "examples/refund.fake.yaml"]
TOKEN = "echoed-token-42"
ECHO = f"""
token: {TOKEN}
replies:
  - when: {{input: refuse}}
    fault: {{name: status, status: 418, body: "no {TOKEN} here"}}
    text: x
  - steps:
      - text: "You sent {{{{authorization}}}}."
        tools: [{{name: t, args: {{header: "{{{{authorization}}}}"}}, result: "{{{{authorization}}}}"}}]
      - text: "You sent {{{{authorization}}}}."
"""


@pytest.mark.slow
def test_a_json_report_has_every_fact(tmp_path: Path) -> None:
    """The JSON report of the example has summary, target, and each case with its calls, cost and trace."""
    path = tmp_path / "deep" / "r.json"
    assert remote_evals("run", *EXAMPLE, "--json", path).code == 0
    report = json.loads(path.read_text("utf-8"))
    assert (report["format_version"], report["summary"]["passed"], report["summary"]["total"]) == (1, 7, 7)
    assert report["target"].startswith("http://127.0.0.1:")
    lookup = report["results"][0]
    assert (lookup["name"], lookup["status"], lookup["finish_reason"]) == ("order lookup", "passed", "stop")
    assert lookup["tool_calls"][0]["args"] == {"orderId": "41"}
    assert lookup["usage"]["cost_usd"] == pytest.approx(0.00149)
    assert len(lookup["turns"][0]["trace_id"]) == 32
    assert lookup["session_id"].startswith("eval-")


@pytest.mark.slow
def test_a_junit_report_has_a_testcase_a_case(tmp_path: Path) -> None:
    """The JUnit report names suite, file and every case."""
    path = tmp_path / "r.xml"
    assert remote_evals("run", *EXAMPLE, "--junit", path).code == 0
    (suite,) = ET.parse(path).getroot()  # noqa: S314 - written a moment ago
    assert (suite.get("name"), suite.get("file"), suite.get("tests")) == ("refund agent", EXAMPLE[0], "7")
    assert next(case.get("name") for case in suite.iter("testcase")) == "order lookup"


@pytest.mark.slow
def test_a_token_that_comes_back_is_in_no_output(tmp_path: Path) -> None:
    """A token that a server echoes in reply, arguments, result and error body is in no output."""
    path = tmp_path / "s.eval.yaml"
    path.write_text("cases: [{name: a, prompt: x, must_contain: no such}, {name: b, prompt: refuse}]")
    reports = [tmp_path / "r.json", tmp_path / "r.xml"]
    with FakeServer(parse_script(ECHO)) as server:
        args = ["--url", server.url, "--json", reports[0], "--junit", reports[1]]
        done = remote_evals("run", path, *args, env={"REMOTE_EVALS_TOKEN": TOKEN})
    everything = done.all + "".join(report.read_text("utf-8") for report in reports)
    assert TOKEN not in everything
    assert everything.count("[redacted]") >= 8
    assert all(report.stat().st_mode & 0o777 == 0o600 for report in reports)


@pytest.mark.slow
def test_a_log_has_no_escapes_and_a_line_a_case() -> None:
    """A pipe gets plain lines: progress on stderr as cases end, the summary on stdout."""
    done = remote_evals("run", *EXAMPLE)
    assert "\x1b" not in done.all
    assert len([line for line in done.err.splitlines() if "/7 passed: " in line]) == 7
    assert done.out.splitlines()[-1].startswith("7/7 passed (100%) · ")


def test_quiet_shows_no_progress() -> None:
    """`--quiet` leaves stderr empty."""
    done = remote_evals("run", *EXAMPLE, "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "7/7 passed" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(("env", "colored"), [({}, True), ({"NO_COLOR": "1"}, False)], ids=["color", "NO_COLOR"])
def test_a_terminal_has_color_unless_it_is_not_wanted(env: dict[str, str], colored: bool) -> None:
    """On a terminal the summary is coloured, unless NO_COLOR is set."""
    leader, follower = pty.openpty()
    environment = clean_environment({"TERM": "xterm-256color", **env})
    command = [sys.executable, "-m", "remote_evals", "run", *EXAMPLE, "--quiet"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=follower, stderr=subprocess.DEVNULL) as process:
        os.close(follower)
        shown = b""
        try:
            while part := os.read(leader, 4096):
                shown += part
        except OSError:
            pass  # Linux raises this once the last writer has closed the terminal
    os.close(leader)
    assert process.returncode == 0
    assert b"7/7 passed" in shown
    assert (b"\x1b[32m" in shown or b"\x1b[1;32m" in shown) == colored


def test_the_version_is_that_of_the_package() -> None:
    """`--version` prints one line."""
    done = remote_evals("--version")
    assert (done.code, done.out) == (0, "remote-evals 0.1.0\n")


def test_help_says_why_a_token_on_the_command_line_is_the_worst() -> None:
    """The help warns of `--token`."""
    text = " ".join(remote_evals("run", "--help").out.replace("│", " ").split())
    assert "Prefer --token-env or --token-file: other users can see this value in the process list" in text
