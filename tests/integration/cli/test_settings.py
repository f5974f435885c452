"""How `run` uses the settings of a project, and how options override them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_server import FakeServer
from remote_evals.cli.app import app
from tests.serving.command import Finished, remote_evals
from tests.serving.deployments import serve

NOWHERE = "http://127.0.0.1:1"
TOKEN = "right-token-5d21"
CASES = """cases:
  - {name: a, prompt: one, tags: [smoke]}
  - {name: b, prompt: two}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a suite of two cases in a folder of its own."""
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "s.eval.yaml").write_text(CASES)
    (tmp_path / "sub").mkdir()
    return tmp_path


def serve_with_token(**fault: object) -> FakeServer:
    return serve({"text": "x", **fault}, token=TOKEN)


def settings(url: str, table: str = "") -> str:
    """Return settings as TOML, inside a table or as a whole file."""
    at = f"{table}." if table else ""
    return "\n".join(
        [
            f"[{table}]" if table else "",
            'suites = ["checks"]',
            "concurrency = 1",
            f"[{at}reports]",
            'json = "out/r.json"',
            f"[{at}environments.production]",
            f'url = "{url}"',
            'token_env = "PRODUCTION_TOKEN"',
            'headers = {"X-Team" = "${TEAM:-evals}"}',
            'tags = ["smoke"]',
        ]
    )


def run_production(folder: Path, *args: object, token: str = TOKEN) -> Finished:
    env = {"PRODUCTION_TOKEN": token, "REMOTE_EVALS_URL": NOWHERE, "REMOTE_EVALS_TOKEN": "wrong-token-9"}
    return remote_evals("run", *args, "--env", "production", cwd=folder, env=env)


@pytest.mark.parametrize(
    ("file", "table", "args"),
    [
        ("remote-evals.toml", "", ()),
        ("pyproject.toml", "tool.remote-evals", ()),
        ("other.toml", "", ("--config", "../other.toml")),
    ],
    ids=["remote-evals.toml", "pyproject.toml", "--config"],
)
def test_an_environment_names_a_deployment(project: Path, file: str, table: str, args: tuple[str, ...]) -> None:
    """`--env` takes URL, token, headers and tags from the settings and not from REMOTE_EVALS_URL and _TOKEN.

    The settings are found in a parent folder or named; their suites and reports are relative to their folder.
    """
    with serve_with_token() as server:
        (project / file).write_text(settings(server.url, table))
        done = run_production(project / "sub", *args)
        assert done.code == 0, done.all
        (request,) = server.requests
    assert (request.body["input"], request.headers["x-team"]) == ("one", "evals")
    assert [row["name"] for row in json.loads((project / "out" / "r.json").read_text("utf-8"))["results"]] == ["a"]
    assert TOKEN not in done.all


def test_options_override_the_settings(project: Path) -> None:
    """A suite, tags, headers and a report on the command line replace those of the settings."""
    (project / "sub" / "t.eval.yaml").write_text("cases: [{name: t, prompt: three, tags: [slow]}]")
    with serve_with_token() as server:
        (project / "remote-evals.toml").write_text(settings(server.url))
        args = ["sub", "--tag", "slow", "--header", "X-Team=mine", "--json", "mine.json"]
        done = run_production(project, *args)
        assert done.code == 0, done.all
        (request,) = server.requests
    assert (request.body["input"], request.headers["x-team"]) == ("three", "mine")
    assert ((project / "mine.json").exists(), (project / "out").exists()) == (True, False)


@pytest.mark.parametrize(("args", "code"), [((), 4), (("--timeout", "1m"), 0)], ids=["settings", "option"])
def test_the_timeout_of_the_settings_applies_without_the_option(
    project: Path, args: tuple[str, ...], code: int
) -> None:
    """The timeout of the settings ends a case that hangs, unless `--timeout` overrides it."""
    (project / "remote-evals.toml").write_text('timeout = "300ms"\n')
    fault = {"name": "silence", "after": 1, "for": "30s" if code == 4 else "600ms"}
    with serve({"text": "x", "fault": fault}) as server:
        done = remote_evals("run", "checks", "--only", "a", "--url", server.url, *args, cwd=project)
    assert (done.code, "300ms" in done.out) == (code, code == 4), done.all


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--env", "producton"], "no environment 'producton' in"),
        (["--env", "production", "--url", NOWHERE], "--env names a deployment, and so does --url or --fake"),
        (["--env", "production", "--fake", "f.yaml"], "--env names a deployment, and so does --url or --fake"),
    ],
    ids=" ".join,
)
def test_a_wrong_choice_is_2_and_sends_nothing(project: Path, args: list[str], message: str) -> None:
    """An unknown environment is reported with the nearest one; `--env` with another deployment is refused."""
    (project / "f.yaml").write_text("replies: [{text: x}]")
    with serve_with_token() as server:
        (project / "remote-evals.toml").write_text(settings(server.url))
        done = remote_evals("run", *args, cwd=project)
        assert (done.code, server.requests, done.out) == (2, [], ""), done.all
    assert message in done.err
    assert ("did you mean 'production'?" in done.err) == (args == ["--env", "producton"])


def test_a_list_for_an_environment_needs_no_token(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run --list --env` lists the cases of an environment whose token is not set, and reads no other variable."""
    (project / "remote-evals.toml").write_text(settings(NOWHERE))
    monkeypatch.chdir(project)
    monkeypatch.delenv("PRODUCTION_TOKEN", raising=False)
    monkeypatch.setenv("REMOTE_EVALS_URL", "nonsense")
    listed, ran = (CliRunner().invoke(app, ["run", *args, "--env", "production"]) for args in (["--list"], []))
    assert (listed.exit_code, listed.stdout) == (0, "checks/s.eval.yaml: a  [smoke]\n"), listed.output
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "the variable PRODUCTION_TOKEN, named by the environment's token_env, is not set" in ran.stderr


def test_every_problem_of_the_settings_is_2_at_once(project: Path) -> None:
    """Each problem is reported with its line, and a token in the file is refused without being shown."""
    lines = [
        "concurency = 2",
        'timeout = "soon"',
        "[environments.production]",
        f'url = "{NOWHERE}"',
        f'token = "{TOKEN}"',
    ]
    (project / "remote-evals.toml").write_text("\n".join(lines))
    done = remote_evals("run", "checks", "--url", NOWHERE, cwd=project)
    assert done.code == 2, done.all
    problems = [line.partition("remote-evals.toml:")[2] for line in done.err.splitlines()]
    assert [problem.partition(":")[0] for problem in problems] == ["1", "2", "5"]
    assert "did you mean 'concurrency'?" in problems[0]
    assert TOKEN not in done.all
