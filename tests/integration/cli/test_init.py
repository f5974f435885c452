"""Which files `remote-evals init` writes, and that they work."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.serving.command import remote_evals

FILES = ["evals/smoke.eval.yaml", "evals/smoke.fake.yaml", ".github/workflows/remote-evals.yml"]


@pytest.mark.parametrize("folder", [None, "my shop", "a/b"])
def test_the_printed_command_passes(folder: str | None, tmp_path: Path) -> None:
    """The first command that is printed passes unchanged, in an existing folder or a new one."""
    done = remote_evals("init", *([folder] if folder else []), cwd=tmp_path)
    assert done.code == 0, done.all
    root = tmp_path / (folder or "")
    assert all((root / name).is_file() for name in FILES)
    (command,) = re.findall(r"^ +remote-evals (run .* --fake .*)$", done.out, re.MULTILINE)
    ran = remote_evals(*shlex.split(command), cwd=tmp_path)
    assert (ran.code, "3/3 passed (100%)" in ran.out) == (0, True), ran.all


def test_the_suite_is_found_without_being_named(tmp_path: Path) -> None:
    """The first suite is found by default, and the fake script is not taken for a suite."""
    remote_evals("init", cwd=tmp_path)
    done = remote_evals("validate", cwd=tmp_path)
    assert done.out == "evals/smoke.eval.yaml: ok, 3 case(s)\n", done.all


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_overwritten(name: str, tmp_path: Path) -> None:
    """A file that exists is left as it is and reported; the others are written."""
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    done = remote_evals("init", cwd=tmp_path)
    assert (done.code, path.read_text()) == (0, "mine")
    assert f"left {name} as it is: it exists already\n" in done.out
    assert [f"wrote {other}" in done.out for other in FILES] == [other != name for other in FILES]


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    """A second `init` writes nothing."""
    remote_evals("init", cwd=tmp_path)
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in FILES}
    done = remote_evals("init", cwd=tmp_path)
    assert (done.code, done.out.count("it exists already"), "wrote" in done.out) == (0, 3, False)
    assert before == {name: (tmp_path / name).stat().st_mtime_ns for name in FILES}


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A symlink to a missing file counts as an existing file, and nothing is written to its target."""
    (tmp_path / "evals").mkdir()
    (tmp_path / FILES[0]).symlink_to(tmp_path / "elsewhere")
    remote_evals("init", cwd=tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_a_file_is_bad_usage(tmp_path: Path) -> None:
    """A folder that cannot be created is reported in one line."""
    (tmp_path / "evals").write_text("a file")
    done = remote_evals("init", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: evals: the folder cannot be created: File exists\n"


def test_the_workflow_runs_the_evals_with_a_secret(tmp_path: Path) -> None:
    """The workflow runs after deployments and on a schedule, takes the token from a secret, and keeps the report."""
    remote_evals("init", cwd=tmp_path)
    # This loader keeps `on` as text, as GitHub does.
    workflow = yaml.load((tmp_path / FILES[2]).read_text(), yaml.BaseLoader)  # noqa: S506 - it creates only text
    assert workflow["on"].keys() == {"deployment_status", "schedule", "workflow_dispatch"}
    (job,) = workflow["jobs"].values()
    (run,) = [step for step in job["steps"] if "--url" in step.get("run", "")]
    assert run["env"]["AGENT_TOKEN"] == "${{ secrets.AGENT_TOKEN }}"
    assert "${{" not in run["run"]
    upload = job["steps"][-1]
    assert (upload["if"], upload["with"]["path"]) == ("always()", "results.xml")
    assert f"--junit {upload['with']['path']}" in run["run"]


@pytest.mark.slow
def test_the_workflows_command_is_valid(tmp_path: Path) -> None:
    """The options of the workflow's command exist: without a deployment, it fails only when it connects."""
    remote_evals("init", cwd=tmp_path)
    (command,) = re.findall(r"run: remote-evals (run .*)$", (tmp_path / FILES[2]).read_text(), re.MULTILINE)
    words = [word.replace("$AGENT_URL", "http://127.0.0.1:9") for word in shlex.split(command)]
    done = remote_evals(*words, cwd=tmp_path, env={"AGENT_TOKEN": "demo-token-123"})
    assert (done.code, (tmp_path / "results.xml").exists()) == (4, True), done.all
