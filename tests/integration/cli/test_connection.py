"""How the command reaches a deployment: TLS, secrets, waits, retries, and deployments that are not up yet."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.serving.certificates import Authority
from tests.serving.command import Finished, clean_environment, remote_evals
from tests.serving.deployments import WHOLE_RUN, Connection, listen, serve

TOKEN = "right-token-5d21"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a suite of two cases."""
    path = tmp_path / "s.eval.yaml"
    path.write_text("cases: [{name: a, prompt: x}, {name: b, prompt: x}]")
    return path


async def run_concurrently(*args: object, cwd: Path | None = None) -> Finished:
    """Run the command without blocking the test's event loop."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "remote_evals", *map(str, args)),
        cwd=cwd,
        env=clean_environment(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    return Finished(process.returncode or 0, out.decode(), err.decode())


@pytest.mark.slow
async def test_a_private_authority_and_no_verification_at_all(suite: Path, tmp_path: Path) -> None:
    """A private CA's certificate is rejected, but accepted with `--ca-bundle`, or with `--insecure` and a warning."""
    authority = Authority(tmp_path)

    async def answer(connection: Connection) -> None:
        await connection.send(WHOLE_RUN)

    async with listen(answer, authority.certify("127.0.0.1")) as host:
        toml = tmp_path / "own.toml"
        toml.write_text(f'[environments.a]\nurl = "https://{host}"\nca_bundle = "{authority.bundle.name}"\n')
        url = ["run", suite, "--quiet", "--url", f"https://{host}"]
        refused, trusted, settings, insecure = await asyncio.gather(
            run_concurrently(*url, "--retries", 0),
            run_concurrently(*url, "--ca-bundle", authority.bundle),
            run_concurrently("run", suite, "--quiet", "--env", "a", "--config", toml),
            run_concurrently(*url, "--insecure", "--json", tmp_path / "r.json"),
        )
    assert refused.code == 4, refused.all
    assert "--ca-bundle" in refused.out
    assert (trusted.code, settings.code) == (0, 0), trusted.all + settings.all
    assert insecure.code == 0, insecure.all
    assert insecure.err.splitlines() == [
        "warning: --insecure: certificates are not verified; anyone on the network path can read the token and forge "
        "replies"
    ]


def test_a_secret_goes_over_plain_http_only_when_told_to(suite: Path) -> None:
    """Sending a token to another machine over plain HTTP is bad usage without `--insecure-http`."""
    args = ["run", suite, "--url", "http://agent.invalid", "--token", TOKEN, "--retries", "0"]
    refused, allowed = remote_evals(*args), remote_evals(*args, "--insecure-http")
    assert (refused.code, allowed.code) == (2, 4), refused.all + allowed.all
    assert "--insecure-http" in refused.err
    assert TOKEN not in refused.all + allowed.all


def test_a_secret_header_is_shown_nowhere(suite: Path, tmp_path: Path) -> None:
    """The value of a header that `--secret-header` names is redacted wherever it is echoed."""
    report = tmp_path / "r.json"
    with serve({"text": "{{authorization}} hidden-value-1"}) as server:
        args = ["run", suite, "--url", server.url, "--json", report, "--header", "X-Tenant=hidden-value-1"]
        done = remote_evals(*args, "--secret-header", "X-Tenant")
    assert done.code == 0, done.all
    assert "hidden-value-1" not in done.all + report.read_text("utf-8")


@pytest.mark.parametrize(("args", "code"), [((), 0), (("--retries", "0"), 4)], ids=["default", "none"])
def test_a_deployment_that_turns_away_is_asked_again(suite: Path, args: tuple[str, ...], code: int) -> None:
    """A turn that the deployment rejects with 503 is resent by default, and never with `--retries 0`."""
    with serve({"text": "x", "fault": {"name": "unavailable", "times": 1, "retry_after": 0}}) as server:
        done = remote_evals("run", suite, "--url", server.url, "--concurrency", 1, *args)
        assert len(server.requests) == (2 if code else 3)
    assert done.code == code, done.all


def test_a_limit_of_a_wait_is_an_option(suite: Path) -> None:
    """The command gives up on a deployment that sends no headers after `--headers-timeout`."""
    with serve({"text": "x", "fault": "no-headers"}) as server:
        done = remote_evals("run", suite, "--url", server.url, "--headers-timeout", "200ms")
    assert done.code == 4, done.all
    assert "no response headers within 200ms" in done.out


def test_the_new_build_is_waited_for(suite: Path) -> None:
    """Cases are sent once /health has the expected header, and stderr says what the run waits for."""
    health = [{"times": 1, "headers": {"X-Version": "1.4.1"}}, {"headers": {"X-Version": "1.4.2"}}]
    with serve(health=health) as server:
        done = remote_evals("run", suite, "--url", server.url, "--expect-header", "X-Version: 1.4.2")
        paths = [request.path for request in server.requests]
    assert done.code == 0, done.all
    assert done.err.splitlines()[0] == f"waiting for {server.url} to be ready"
    assert paths.index("/chat") > 1
    assert set(paths[paths.index("/chat") :]) == {"/chat"}


def test_a_deployment_that_does_not_come_up_is_4(suite: Path, tmp_path: Path) -> None:
    """A deployment that never becomes ready gets no case; the output and the report give the reason."""
    report = tmp_path / "r.json"
    with serve(health={"fault": "unavailable"}) as server:
        done = remote_evals("run", suite, "--url", server.url, "--wait", "0", "--json", report)
        assert [request.path for request in server.requests] == ["/health"]
    assert done.code == 4, done.all
    assert done.out.count("NOT_READY: ") == 1
    assert "[SKIP] b … NOT_READY, as above" in done.out
    rows = json.loads(report.read_text("utf-8"))["results"]
    assert [(row["status"], row["error"]["code"]) for row in rows] == [("skipped", "NOT_READY")] * 2


def test_the_whole_run_has_a_limit(suite: Path, tmp_path: Path) -> None:
    """Cases that are not done after `--max-time` are skipped, and reports are still written."""
    report = tmp_path / "r.json"
    with serve({"text": "x", "fault": "silence"}) as server:
        done = remote_evals("run", suite, "--url", server.url, "--json", report, "--max-time", "300ms")
    assert done.code == 4, done.all
    assert "not done within 300ms, the limit of the whole run" in done.out
    rows = json.loads(report.read_text("utf-8"))["results"]
    assert [(row["status"], row["error"]["code"]) for row in rows] == [("skipped", "MAX_TIME")] * 2


def test_what_is_odd_in_the_protocol_fails_when_told_to(suite: Path) -> None:
    """With `--strict-protocol`, a gap in the event numbers fails the cases."""
    with serve({"text": "a b c", "fault": {"name": "seq-gap", "after": 2}}) as server:
        done = remote_evals("run", suite, "--url", server.url, "--strict-protocol")
    assert done.code == 1, done.all
    assert "turn 1: protocol failed: seq " in done.out
