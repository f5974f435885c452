"""Which deployment the command sends a suite to, and with which token."""

from pathlib import Path

import pytest

from fake_server import FakeServer, parse_script
from tests.serving.command import Finished, remote_evals

SCRIPT = "token: right-token-1\nreplies: [{text: all good}]"
CASE = "cases: [{name: a, prompt: x, must_contain: good}]\n"


def run_suite(folder: Path, text: str, *args: object, env: dict[str, str] | None = None) -> Finished:
    path = folder / "s.eval.yaml"
    path.write_text(text, "utf-8")
    return remote_evals("run", path, *args, env=env)


def test_a_suite_may_name_its_deployment(tmp_path: Path) -> None:
    """A suite's `target:` sets URL, token variable, headers and secret headers, with variables filled in."""
    with FakeServer(parse_script("token: right-token-1\nreplies: [{text: 'all good, blue-team-7'}]")) as server:
        target = "target: {url: '${URL}', token_env: MY_TOKEN, headers: {X-Team: '${TEAM:-blue-team-7}'}"
        env, report = {"URL": server.url, "MY_TOKEN": "right-token-1"}, tmp_path / "r.json"
        done = run_suite(tmp_path, f"{target}, secret_headers: x-team}}\n{CASE}", "--json", report, env=env)
        assert done.code == 0, done.all
        assert server.requests[0].headers["x-team"] == "blue-team-7"
    assert "all good, [redacted]" in report.read_text("utf-8")
    assert "blue-team-7" not in report.read_text("utf-8") + done.all


def test_the_command_line_comes_before_the_suite(tmp_path: Path) -> None:
    """`--url` and `--token-env` override the suite's, and `--header` adds to the suite's headers or replaces one."""
    with FakeServer(parse_script(SCRIPT)) as server:
        target = "target: {url: 'http://127.0.0.1:1', token_env: OLD, headers: {X-Team: blue, X-Build: '1'}}\n"
        args = ["--url", server.url, "--token-env", "NEW", "--header", "X-Build=2", "--header", "X-More: yes"]
        done = run_suite(tmp_path, target + CASE, *args, env={"OLD": "wrong-token-2", "NEW": "right-token-1"})
        assert done.code == 0, done.all
        sent = server.requests[0].headers
        assert (sent["x-team"], sent["x-build"], sent["x-more"]) == ("blue", "2", "yes")


def test_url_and_token_may_come_from_the_environment(tmp_path: Path) -> None:
    """REMOTE_EVALS_URL and REMOTE_EVALS_TOKEN are enough to reach a deployment."""
    with FakeServer(parse_script(SCRIPT)) as server:
        env = {"REMOTE_EVALS_URL": server.url, "REMOTE_EVALS_TOKEN": "right-token-1"}
        assert run_suite(tmp_path, CASE, env=env).code == 0


@pytest.mark.parametrize("option", ["--token", "--token-file"])
def test_a_token_may_be_given_or_read_from_a_file(tmp_path: Path, option: str) -> None:
    """The token may be given directly, or in a file that ends with a line break."""
    (tmp_path / "token").write_text("right-token-1\n")
    value = "right-token-1" if option == "--token" else tmp_path / "token"
    with FakeServer(parse_script(SCRIPT)) as server:
        assert run_suite(tmp_path, CASE, "--url", server.url, option, value).code == 0


def test_a_suites_token_variable_that_is_not_set_is_told(tmp_path: Path) -> None:
    """If the token variable that a suite names is not set, nothing is sent."""
    with FakeServer(parse_script(SCRIPT)) as server:
        done = run_suite(tmp_path, "target: {token_env: NOPE}\n" + CASE, "--url", server.url)
        assert (done.code, server.requests) == (2, [])
    assert "the variable NOPE, named by the suite's token_env, is not set" in done.err


def test_two_suites_may_have_two_deployments(tmp_path: Path) -> None:
    """In one run, each suite is sent to its own target, and the summary names both."""
    with FakeServer(parse_script(SCRIPT)) as one, FakeServer(parse_script("replies: [{text: good too}]")) as two:
        for name, server in (("one", one), ("two", two)):
            (tmp_path / f"{name}.eval.yaml").write_text(f"target: {{url: '{server.url}'}}\n{CASE}")
        done = remote_evals("run", tmp_path, env={"REMOTE_EVALS_TOKEN": "right-token-1"})
        assert done.code == 0, done.all
        assert (len(one.requests), len(two.requests)) == (1, 1)
        assert f"{one.url}, {two.url}" in done.out


def test_the_fake_server_never_gets_a_token_of_the_environment(tmp_path: Path) -> None:
    """`--fake` uses the script's own token and ignores those of the suite and the environment."""
    script = tmp_path / "fake.yaml"
    script.write_text("token: fakes-own-1\nreplies: [{text: 'good {{authorization}}'}]")
    target = "target: {url: 'https://agent.example.com', token_env: REAL}\n"
    done = run_suite(tmp_path, target + CASE, "--fake", script, env={"REAL": "real-token-9"})
    assert done.code == 0, done.all
    assert "real-token-9" not in done.all
