"""The command `remote-evals doctor`: what it prints, and its exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from remote_evals.cli.app import app
from tests.serving.command import clean_environment
from tests.serving.deployments import serve
from tests.serving.diagnosis import TOKEN
from tests.serving.ports import closed_port

RUN = {"text": "noted"}


@pytest.fixture(autouse=True)
def _no_variables_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("REMOTE_EVALS")]:
        monkeypatch.delenv(name)


def doctor(*args: object) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, ["doctor", *map(str, args)])


def test_a_fit_deployment_is_0_with_warnings() -> None:
    """The page has a head, findings and a verdict; warnings do not change the exit code."""
    with serve(RUN) as server:
        done = doctor("--url", server.url)
    assert done.exit_code == 0, done.output
    assert f"doctor · {server.url}\n" in done.stdout
    assert "[WARN] memory: " in done.stdout
    assert "\nfit to be tested: " in done.stdout
    assert done.stderr == ""


def test_the_json_is_one_document() -> None:
    """With --json, stdout has only the document, and the exit code is the same."""
    with serve(RUN, token=TOKEN) as server:
        done = doctor("--url", server.url, "--token", TOKEN, "--json")
    document = json.loads(done.stdout)
    assert (done.exit_code, document["fit"], document["target"]) == (0, True, server.url)
    assert document["findings"][-1]["check"] == "wrong_token"
    assert TOKEN not in done.output


@pytest.mark.parametrize(
    ("reply", "script", "code"),
    [
        ({"error": {"name": "E"}}, {}, 1),
        (RUN, {"token": "another-token"}, 3),
        (RUN, {"fault": "html"}, 4),
        ({"text": "a b", "fault": {"name": "cut", "after": 2}}, {}, 4),
    ],
    ids=["run failed", "token refused", "a page", "broken turn"],
)
def test_each_failure_has_its_exit_code(reply: dict[str, Any], script: dict[str, Any], code: int) -> None:
    """The exit code is 1 for a failed check, 3 for a refused token and 4 for a turn that broke."""
    with serve(reply, **script) as server:
        done = doctor("--url", server.url)
    assert done.exit_code == code, done.output
    assert "\nnot fit to be tested: " in done.stdout


def test_a_deployment_that_is_not_there_is_4() -> None:
    """An unreachable deployment exits with 4, and all checks that were not made share one line."""
    with closed_port() as host:
        done = doctor("--url", f"http://{host}")
    assert done.exit_code == 4
    assert done.stdout.count("[SKIP]") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "there is no deployment to examine"),
        (["--url", "agent.test"], "is not a URL of a deployment"),
        (["--url", "http://127.0.0.1:1", "--prompt", " "], "--prompt is empty"),
        (["--url", "http://agent.test", "--token", TOKEN], "plain http"),
    ],
)
def test_bad_usage_is_2_and_prints_no_page(args: list[str], message: str) -> None:
    """Bad usage is reported on stderr before anything is sent."""
    done = doctor(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_url_and_token_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """REMOTE_EVALS_URL and REMOTE_EVALS_TOKEN are enough, without any option."""
    with serve(RUN, token=TOKEN) as server:
        monkeypatch.setenv("REMOTE_EVALS_URL", server.url)
        monkeypatch.setenv("REMOTE_EVALS_TOKEN", TOKEN)
        done = doctor()
    assert done.exit_code == 0, done.output
    assert "[PASS] with a wrong token: refused with 401" in done.stdout


def test_a_deployment_may_be_named_by_the_settings(tmp_path: Path) -> None:
    """--env names a deployment in the settings, with its URL and headers."""
    settings = tmp_path / "remote-evals.toml"
    with serve(RUN) as server:
        settings.write_text(f'[environments.here]\nurl = "{server.url}"\nheaders = {{X-Team = "blue"}}\n', "utf-8")
        done = doctor("--env", "here", "--config", settings)
        assert {request.headers.get("x-team") for request in server.requests} == {"blue"}
    assert done.exit_code == 0, done.output


def test_a_fake_deployment_can_be_looked_at() -> None:
    """With --fake, the command examines the bundled fake server, and sends it the prompt of --prompt."""
    done = doctor("--fake", "examples/refund.fake.yaml", "--prompt", "What is your policy?")
    assert done.exit_code == 0, done.output
    assert "[SKIP] memory: not checked: --prompt has no {number}" in done.stdout


def test_the_help_says_what_is_sent() -> None:
    """The help says which requests are sent, since turns may cost money, and that none is sent twice."""
    text = " ".join(doctor("--help").stdout.split())
    assert "none of which is sent twice: GET /health two short turns" in text


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_what_is_known_so_far(number: signal.Signals, code: int) -> None:
    """Findings are printed as they are made, so those before the signal stay on the page."""
    with (
        serve({"text": "x", "fault": "no-headers"}) as server,
        subprocess.Popen(
            [sys.executable, "-m", "remote_evals", "doctor", "--url", server.url],
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            server.wait_for_requests(2, timeout_s=20)
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == code, out + err
    assert "[PASS] health" in out
    assert "Traceback" not in out + err
