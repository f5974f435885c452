"""The README and the examples run as they are printed."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from fake_server import FakeServer, load_script
from remote_evals import load_suites
from tests.docs.pages import find_broken_links, find_table
from tests.serving.command import ROOT, Finished, remote_evals, run_python

README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.eval.*"))


def split_steps(command: str) -> list[list[str]]:
    """Return the steps of a command in the README, each split into words."""
    return [shlex.split(step) for step in command.replace("\n", " ").split("&&")]


def test_the_readme_is_one_short_page() -> None:
    """The README has at most 150 lines, and each of its links leads somewhere."""
    assert len(README.splitlines()) <= 150
    assert list(find_broken_links("README.md")) == []


def test_the_readme_has_two_commands_for_a_fresh_machine() -> None:
    """One command tries it, one tests it; each first makes its own environment, and can be pasted whole."""
    assert len(COMMANDS) == 2
    for command in COMMANDS:
        venv, install, _ = split_steps(command)
        assert venv == ["python3", "-m", "venv", ".venv"]
        assert install[:3] == [".venv/bin/pip", "install", "--quiet"]


def test_the_readmes_first_command_is_green() -> None:
    """The first command passes all cases; `.ci/run` also runs it with its installation, in a fresh copy."""
    program, *args = split_steps(COMMANDS[0])[-1]
    assert program == ".venv/bin/remote-evals"
    done = remote_evals(*args)
    assert (done.code, "7/7 passed (100%)" in done.out) == (0, True), done.all


def test_the_readmes_second_command_runs_the_tests() -> None:
    """The second command collects this very test; `.ci/run` runs it whole, in a fresh copy."""
    program, *args = split_steps(COMMANDS[1])[-1]
    assert program == ".venv/bin/python"
    done = run_python(*args, "--collect-only", "-q", "tests/docs/test_readme.py")
    assert done.code == 0, done.all
    assert "test_the_readmes_second_command_runs_the_tests" in done.out


def test_the_readmes_suite_passes(tmp_path: Path) -> None:
    """The README's suite passes as it is printed."""
    (suite,) = re.findall(r"^```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    path = tmp_path / "refund.eval.yaml"
    path.write_text(suite, "utf-8")
    done = remote_evals("run", path, "--fake", ROOT / "examples" / "refund.fake.yaml")
    assert done.code == 0, done.all


def test_the_readmes_eval_runs(tmp_path: Path) -> None:
    """The README's eval in code passes in process as it is printed."""
    (code,) = [block for block in PYTHON if "@define_eval" in block]
    path = tmp_path / "readme_eval.py"
    path.write_text(code, "utf-8")
    done = remote_evals("run", path)
    assert (done.code, "1/1 passed" in done.out) == (0, True), done.all


def test_every_exit_code_is_in_the_readme() -> None:
    """The README's exit codes are those on the page of the command."""
    pages = ("README.md", "remote_evals/cli/README.md")
    codes = [", ".join(row[0] for row in find_table(page, "exit code").rows) for page in pages]
    assert codes[0] == codes[1]


def test_the_readmes_options_exist() -> None:
    """Every option in the README is one of the commands, of the fake server, of pytest or of pip."""
    known = (
        "".join(get_help(command).out for command in ("run", "list", "validate", "doctor"))
        + " --editable --remote-url --dist "
    )
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", README))
    assert [option for option in sorted(named) if option not in known] == []


def get_help(command: str) -> Finished:
    """Return the help of a command."""
    return remote_evals(command, "--help")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_green_against_its_fake(name: str) -> None:
    """Every example suite passes against NAME.fake.yaml, or against refund.fake.yaml if there is none.

    A suite that needs a judge gets the judge of that fake.
    """
    assert load_suites([str(ROOT / "examples" / name)], {})
    fake = ROOT / "examples" / f"{name.partition('.')[0]}.fake.yaml"
    script = load_script(fake if fake.exists() else ROOT / "examples" / "refund.fake.yaml")
    with FakeServer(script) as server:
        options = ["--url", server.url, *(["--token", server.token] if server.token else [])]
        env = {"JUDGE_URL": server.url, "JUDGE_API_KEY": script.judge.api_key or ""} if script.judge else {}
        done = remote_evals("run", ROOT / "examples" / name, *options, *(["--judge"] if script.judge else []), env=env)
    assert done.code == 0, done.all
    assert "warning: " not in done.out


def test_the_installed_command_is_there() -> None:
    """The console script is installed beside the interpreter that runs the tests."""
    assert shutil.which("remote-evals", path=str(Path(sys.executable).parent))
