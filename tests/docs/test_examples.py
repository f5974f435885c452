"""The cookbook: its commands run, and each of its CI files does what the page says, against a fake deployment."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from fake_server import FakeServer, parse_script
from tests.docs.command_lines import explain_command_line
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
)
from tests.docs.workflow import Job, load_ci_file
from tests.serving.command import ROOT, remote_evals, run_python
from tests.serving.deployments import serve

PAGE = "examples/README.md"
EXAMPLES = ROOT / "examples"
TRIED, BY_HAND = (block.splitlines() for block in fenced_blocks(PAGE, "sh"))
CI_FILES = sorted([*EXAMPLES.glob("*.github.yml"), *EXAMPLES.glob("*.gitlab.yml")])

BUILD = "f00dfeed"
TOKEN = "right-token-5d21"


def test_links_and_lines_are_sound() -> None:
    """Every link leads somewhere, and no line is too long to be read."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []


def test_every_file_is_on_the_page() -> None:
    """The page names each suite, script and CI file of the folder; scripts by the commands that use them."""
    named = set(re.findall(r"\]\(([\w.-]+)\)", read(PAGE))) | {
        word.removeprefix("examples/") for line in TRIED for word in shlex.split(line) if word.startswith("examples/")
    }
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file() and path.suffix != ".svg"}
    assert named == files - {"README.md"}


@pytest.mark.parametrize("line", TRIED)
def test_a_command_passes(line: str) -> None:
    """Each command with which the page tries a suite passes as it stands."""
    program, *args = shlex.split(line)
    done = remote_evals(*args) if program == "remote-evals" else run_python("-m", program, *args)
    assert done.code == 0, done.all


def test_the_commands_by_hand_can_be_parsed() -> None:
    """The commands for deployments of one's own have options that exist."""
    assert [wrong for line in BY_HAND if (wrong := explain_command_line(line))] == []


def test_the_table_has_every_suite() -> None:
    """The table of suites has each file that can be run."""
    suites = {path.name for path in EXAMPLES.iterdir() if ".eval." in path.name or path.name.endswith("_eval.py")}
    assert {re.findall(r"\[(.*)\]", row[0])[0] for row in find_table(PAGE, "file").rows} == suites


@pytest.mark.parametrize("path", CI_FILES, ids=lambda path: path.name)
def test_a_ci_file_says_what_it_needs(path: Path) -> None:
    """Each CI file has a head of comments that names every variable and secret that it uses, and where to copy it."""
    text = path.read_text("utf-8")
    head = "".join(re.findall(r"\A(?:#.*\n)+", text))
    assert "Copy it to " in head
    assert set(re.findall(r"(?:vars\.|secrets\.|\$)(AGENT_\w+|JUDGE_\w+)", text)) <= set(re.findall(r"\w+", head))
    assert [line for line in text.splitlines() if len(line) > 120] == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a suite of one case, and programs that only note that they were called."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "s.eval.yaml").write_text(
        "cases: [{name: a, prompt: hi, tags: [smoke], must_contain: Hello}]"
    )
    (tmp_path / "bin").mkdir()
    for name in ("deploy.sh", "rollback.sh", "bin/gh"):
        note = f'#!/bin/sh\necho "{name} $*" >> {shlex.quote(str(tmp_path / "called"))}\n'
        (tmp_path / name).write_text(note)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def read_calls(project: Path) -> list[str]:
    """Return what was called, each with its arguments."""
    path = project / "called"
    return path.read_text("utf-8").split("\n")[:-1] if path.exists() else []


def serve_build(reply: str = "Hello.", build: str = BUILD, token: str = TOKEN) -> FakeServer:
    """Return a deployment of a build, with one reply."""
    return serve({"text": reply}, token=token, health={"headers": {"X-Version": build}})


def run_github(name: str, project: Path, url: str, **more: str) -> Job:
    """Run the only job of a GitHub file against a deployment."""
    workflow = load_ci_file(EXAMPLES / name)
    (job,) = workflow["jobs"].values()
    values = {"vars.AGENT_URL": url, "secrets.AGENT_TOKEN": TOKEN, **more}
    env = {"GITHUB_ACTIONS": "true", "GITHUB_SHA": BUILD, "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    ran = Job(project, env, values)
    ran.run_github(job["steps"])
    return ran


# What the deployment is like, and what then follows: whether the job fails, and what was called.
GATE = {
    "a good build": ({}, False, ["deploy.sh "]),
    "a wrong agent": ({"reply": "Bye."}, True, ["deploy.sh ", "rollback.sh "]),
    "a rejected token": ({"token": "other-token-1"}, True, ["deploy.sh "]),
}


@pytest.mark.parametrize("state", GATE)
def test_the_gate_on_github(state: str, project: Path) -> None:
    """The gate is green for a good build, rolls a wrong agent back, and only fails for a rejected token."""
    script, fails, calls = GATE[state]
    with serve_build(**script) as server:
        job = run_github("deploy-gate.github.yml", project, server.url)
    assert (job.has_failed, read_calls(project)) == (fails, calls), job.output
    assert (project / "results.xml").exists()


def test_the_gate_waits_for_the_new_build(project: Path) -> None:
    """An old build is not taken for the new one: no case is sent, and nothing is rolled back."""
    gate = EXAMPLES / "deploy-gate.github.yml"
    assert "--wait 5m" in gate.read_text("utf-8")
    with serve_build(build="0ldbui1d") as server:
        workflow = load_ci_file(gate)
        (job,) = workflow["jobs"].values()
        steps = [{**step, "run": step.get("run", "").replace("--wait 5m", "--wait 300ms")} for step in job["steps"]]
        ran = Job(project, {"GITHUB_SHA": BUILD}, {"vars.AGENT_URL": server.url, "secrets.AGENT_TOKEN": TOKEN})
        ran.run_github(steps)
        assert {request.path for request in server.requests} == {"/health"}
    assert (ran.has_failed, read_calls(project)) == (True, ["deploy.sh "]), ran.output
    assert "NOT_READY" in ran.output


def test_the_gate_on_gitlab(project: Path) -> None:
    """The gate on GitLab is green for a good build, and leaves the reports that it names."""
    jobs: dict[str, Any] = load_ci_file(EXAMPLES / "deploy-gate.gitlab.yml")
    with serve_build() as server:
        ran = Job(project, {"CI_COMMIT_SHA": BUILD, "AGENT_URL": server.url, "AGENT_TOKEN": TOKEN})
        ran.run_gitlab(jobs["deploy"]["script"])
        ran.run_gitlab(jobs["evals"]["script"])
    assert (ran.has_failed, read_calls(project)) == (False, ["deploy.sh "]), ran.output
    artifacts = jobs["evals"]["artifacts"]
    kept = [*artifacts["paths"], artifacts["reports"]["junit"]]
    assert [name for name in kept if not (project / name).exists()] == []
    assert jobs["stages"] == [jobs["deploy"]["stage"], jobs["evals"]["stage"]]


@pytest.mark.parametrize(("misses", "fails"), [(3, False), (6, True)], ids=["few", "many"])
def test_the_nightly_run(misses: int, fails: bool, project: Path) -> None:
    """Each case runs three times, rubrics are graded, and the job fails only if more than a tenth of the runs do."""
    names = [f"case {number}" for number in range(11)]
    cases = [f"- {{name: {name}, prompt: {name}, must_contain: Hello, rubric: Is polite.}}" for name in names]
    (project / "evals" / "s.eval.yaml").write_text("cases:\n" + "\n".join(cases))
    wrong = "|".join(names[: misses // 3])
    script = f"""
token: {TOKEN}
replies:
  - when: {{matches: "^({wrong})$"}}
    text: Bye.
  - text: Hello.
judge: {{api_key: judge-key-7f3a91, replies: [{{verdict: {{passed: true, score: 0.9, reason: It is.}}}}]}}
"""
    with FakeServer(parse_script(script)) as server:
        judge = {"vars.JUDGE_URL": server.url, "vars.JUDGE_MODEL": "m", "secrets.JUDGE_API_KEY": "judge-key-7f3a91"}
        job = run_github("nightly.github.yml", project, server.url, **judge)
        turns = sum(request.path == "/chat" for request in server.requests)
    assert (turns, job.has_failed) == (33, fails), job.output
    kept = sorted(path.name for path in (project / "results").iterdir())
    assert [re.sub(r"\d", "0", name) for name in kept] == ["eval-00000000T000000Z.json", "junit.xml", "summary.md"]
    assert "30" in (project / "summary.md").read_text("utf-8") or fails


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
def test_the_comment_on_a_pull_request(is_right: bool, project: Path) -> None:
    """The report becomes a comment whether or not the evals pass, and the job fails if they do not."""
    code = (EXAMPLES / "order_eval.py").read_text("utf-8")
    wrong = code.replace("Your name is {names[-1]}", "I do not remember it")
    (project / "evals" / "order_eval.py").write_text(code if is_right else wrong)
    values = {"github.token": "t", "github.event.number": "7"}
    job = run_github("pull-request.github.yml", project, "", **values)
    assert job.has_failed != is_right, job.output
    assert read_calls(project) == ["bin/gh pr comment 7 --edit-last --create-if-none --body-file results.md"]
    assert ("3/3" in (project / "results.md").read_text("utf-8")) == is_right


def test_the_installation_of_a_workflow_is_the_one_that_init_writes() -> None:
    """All CI files install the command as the workflow of `remote-evals init` does."""
    template = (ROOT / "remote_evals" / "suites" / "templates" / "workflow.yaml").read_text("utf-8")
    (install,) = re.findall(r"run: (pip install .*)", template)
    assert [path.name for path in CI_FILES if install not in path.read_text("utf-8")] == []
    assert install in find_code(read(PAGE))


def test_the_options_of_the_page_exist() -> None:
    """Every option that the text names is one of the command's."""
    help_ = run_python("-m", "remote_evals", "run", "--help").out
    assert {option for code in find_code(read(PAGE)) for option in named_options(code)} <= named_options(help_)
