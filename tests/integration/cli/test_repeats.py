"""Cases that run several times, and how their runs decide the exit code."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.serving.command import Finished, remote_evals
from tests.serving.deployments import serve

CASE = "name: order, prompt: x, must_contain: good"


@contextmanager
def replying(*texts: str) -> Iterator[tuple[str, list[str]]]:
    """Serve a deployment whose every request gets the next text; yields its URL, and the sessions that came."""
    sessions: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            sessions.append(body["sessionId"])
            text = texts[len(sessions) - 1]
            event = json.dumps({"type": "run.done", "finishReason": "stop", "text": text})
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(f"data: {event}\n\n".encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", sessions
        finally:
            server.shutdown()
            thread.join()


def run_case(folder: Path, url: str, *args: object, more: str = "") -> Finished:
    """Run one case whose reply must be good, one run at a time."""
    path = folder / "s.eval.yaml"
    path.write_text(f"cases: [{{{CASE}{more}}}]", "utf-8")
    return remote_evals("run", path, "--url", url, "--concurrency", "1", *args)


def test_every_run_has_its_own_row_and_session(tmp_path: Path) -> None:
    """`--runs` overrides the suite and repeats every case, each run with its own session and row `#n`."""
    with replying("good", "good", "good") as (url, sessions):
        done = run_case(tmp_path, url, "--runs", "3", "--json", tmp_path / "r.json", more=", repeat: 2")
        assert len(set(sessions)) == 3
    assert done.code == 0, done.all
    results = json.loads((tmp_path / "r.json").read_text("utf-8"))["results"]
    assert [(row["name"], row["case"]) for row in results] == [(f"order #{n}", "order") for n in (1, 2, 3)]
    assert "1/1 passed (100%) · 3/3 runs" in done.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("more", "code", "mark"),
    [(", repeat: 3", 1, "FAIL"), (", repeat: 3, pass_at: 2", 0, "PASS")],
    ids=["all", "pass_at"],
)
def test_a_flaky_case_is_shown_with_its_rate(tmp_path: Path, more: str, code: int, mark: str) -> None:
    """Two good runs of three are flaky: they fail a case by default, and pass one with `pass_at: 2`."""
    with replying("good", "bad", "good") as (url, _):
        done = run_case(tmp_path, url, "--json", tmp_path / "r.json", more=more)
    assert done.code == code, done.all
    assert f"[{mark}] order 2/3 flaky" in done.out
    assert "output_contains('good') failed" in done.out
    (case,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["cases"]
    assert (case["rate"], case["flaky"], case["score"]["least"], case["score"]["greatest"]) == ("2/3", True, 0, 1)


def test_the_defaults_of_a_suite_repeat_its_cases(tmp_path: Path) -> None:
    """`repeat` and `pass_at` among the defaults apply to every case that does not override them."""
    path = tmp_path / "s.eval.yaml"
    path.write_text(f"defaults: {{repeat: 2, pass_at: 1}}\ncases: [{{{CASE}}}, {{name: b, prompt: x, repeat: 1}}]")
    with replying("bad", "good", "good") as (url, _):
        done = remote_evals("run", path, "--url", url, "--concurrency", "1")
    assert done.code == 0, done.all
    assert "[PASS] order 1/2 flaky" in done.out
    assert "2/2 passed (100%) · 2/3 runs, 1 flaky" in done.out


def test_junit_shows_one_testcase_a_case(tmp_path: Path) -> None:
    """A case that ran three times is one testcase, whose failure shows the run that failed."""
    with replying("good", "bad", "good") as (url, _):
        run_case(tmp_path, url, "--junit", tmp_path / "r.xml", more=", repeat: 3")
    root = ET.parse(tmp_path / "r.xml").getroot()  # noqa: S314 - written a moment ago
    (case,) = root.iter("testcase")
    (failure,) = case.iter("failure")
    values = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert (root.get("tests"), root.get("failures"), case.get("name")) == ("1", "1", "order")
    assert (values["runs"], values["passed_runs"], values["flaky"]) == ("3", "2", "true")
    assert "order #2" in (failure.text or "")
    assert "order #3:" not in (failure.text or "")


@pytest.mark.parametrize(("rate", "code"), [("0.75", 0), ("0.76", 1)], ids=["reached", "missed"])
def test_min_pass_rate_decides_over_all_runs(tmp_path: Path, rate: str, code: int) -> None:
    """Three good runs of four pass at a rate of 0.75 although gates failed, and fail above it."""
    with replying("good", "bad", "good", "good") as (url, _):
        done = run_case(tmp_path, url, "--runs", "4", "--min-pass-rate", rate)
    assert done.code == code, done.all
    assert "[FAIL] order 3/4 flaky" in done.out
    verdict = "missed" if code else "reached"
    assert done.out.splitlines()[-1] == f"rate: 3 of 4 runs passed, at least {float(rate):.0%} required: {verdict}"


@pytest.mark.parametrize(("rate", "code"), [("0.5", 0), ("0.8", 4)], ids=["reached", "missed"])
def test_min_pass_rate_counts_errors_as_not_passed(tmp_path: Path, rate: str, code: int) -> None:
    """A run that could not be judged lowers the rate, and a rate missed only by such runs exits with 4."""
    path = tmp_path / "s.eval.yaml"
    path.write_text("cases: [{name: a, prompt: cut}, {name: b, prompt: x}]")
    with serve({"when": {"input": "cut"}, "text": "a b c", "fault": {"name": "cut", "after": 2}}, {"text": "x"}) as far:
        done = remote_evals("run", path, "--url", far.url, "--min-pass-rate", rate)
    assert done.code == code, done.all
    assert "1/2 passed (50%), 1 error" in done.out


def test_a_rate_of_nothing_is_not_green(tmp_path: Path) -> None:
    """If no case ran, not even a rate of 0 is reached."""
    with replying() as (url, _):
        done = run_case(tmp_path, url, "--min-pass-rate", "0", "--only", "ordre")
    assert (done.code, "did you mean 'order'?" in done.err) == (1, True), done.all
    assert "no cases ran" in done.out


def test_no_rate_is_reached_where_nothing_passed(tmp_path: Path) -> None:
    """If every run failed, not even a rate of 0 is reached, and the output says so."""
    with replying("bad", "bad") as (url, _):
        done = run_case(tmp_path, url, "--runs", "2", "--min-pass-rate", "0")
    assert done.code == 1, done.all
    assert done.out.splitlines()[-1] == "rate: 0 of 2 runs passed, at least 0% required: missed"


def test_a_rate_in_percent_is_2(tmp_path: Path) -> None:
    """A rate above 1 is rejected before anything is sent."""
    with replying() as (url, sessions):
        done = run_case(tmp_path, url, "--min-pass-rate", "80")
        assert (done.code, sessions) == (2, []), done.all
    assert "--min-pass-rate" in done.err


def test_fail_fast_starts_nothing_more(tmp_path: Path) -> None:
    """After the first failed case nothing is sent, and the rest is shown as skipped with the reason."""
    path = tmp_path / "s.eval.yaml"
    path.write_text("defaults: {must_contain: good}\ncases: " + json.dumps([{"name": n, "prompt": "x"} for n in "abc"]))
    with replying("good", "bad") as (url, sessions):
        done = remote_evals("run", path, "--url", url, "--concurrency", "1", "--fail-fast")
        assert len(sessions) == 2
    assert done.code == 1, done.all
    assert "[SKIP] c" in done.out
    assert "FAILED_FAST: not run, since a case before it did not pass" in done.out
    assert "1/3 passed (33%), 1 failed, 1 skipped" in done.out


def test_fail_fast_goes_on_while_a_case_can_still_pass(tmp_path: Path) -> None:
    """A failed run of a case that can still pass stops nothing."""
    with replying("bad", "good", "good") as (url, sessions):
        done = run_case(tmp_path, url, "--fail-fast", more=", repeat: 3, pass_at: 2")
        assert len(sessions) == 3
    assert done.code == 0, done.all


def test_list_shows_what_would_run_and_runs_nothing(tmp_path: Path) -> None:
    """`run --list` needs no deployment, shows the selected cases one per line, and sends nothing."""
    path = tmp_path / "s.eval.yaml"
    path.write_text("cases: [{name: a, prompt: x, tags: [smoke]}, {name: b, prompt: x}]")
    done = remote_evals("run", "--list", "--tag", "smoke", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "s.eval.yaml: a  [smoke]\n", "")


@pytest.mark.parametrize(("of_case", "option", "code"), [("200ms", "1m", 4), ("0", "1ms", 0)], ids=["less", "none"])
def test_the_timeout_of_a_case_comes_before_the_option(tmp_path: Path, of_case: str, option: str, code: int) -> None:
    """A case's own `timeout` overrides `--timeout`, and exceeding it is an error that names the limit."""
    path = tmp_path / "s.eval.yaml"
    path.write_text(f"cases: [{{name: a, prompt: x, timeout: {of_case}}}]")
    fault = {"fault": {"name": "silence", "after": 2, "for": "30s" if code else "50ms"}}
    with serve({"text": "a b", **fault}) as far:
        done = remote_evals("run", path, "--url", far.url, "--timeout", option)
    assert done.code == code, done.all
    assert ("REMOTE_TIMEOUT" in done.out) == ("200ms" in done.out) == bool(code)
