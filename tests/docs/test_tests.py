"""The page on the tests: its folders, commands and variables are those of this repository."""

import os
import re
import shlex
import tomllib

import pytest

from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
)
from tests.serving.command import ROOT, run_python

PAGE = "tests/README.md"
TEXT = " ".join(read(PAGE).split())
LINES = [line for block in fenced_blocks(PAGE, "sh") for line in block.splitlines()]
PYTEST = [line for line in LINES if line.startswith("python -m pytest")]


def test_links_and_lines_are_sound() -> None:
    """Every link leads somewhere, and no line is too long to be read."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []


def test_every_folder_is_in_the_table() -> None:
    """The table has each folder of the tests, and each of the integration tests."""
    rows = {re.findall(r"\[(\w+)\]", row[0])[0]: row[1] for row in find_table(PAGE, "folder").rows}
    assert set(rows) == {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")} | {"snapshots"}
    integration = {path.parent.name for path in (ROOT / "tests" / "integration").glob("*/__init__.py")}
    assert set(find_code(rows["integration"])) == integration


def test_every_variable_of_the_tests_is_in_the_table() -> None:
    """The table has each variable that only the tests read."""
    sources = [*(ROOT / "tests").rglob("*.py"), ROOT / ".ci" / "run"]
    read_by_tests = {name for path in sources for name in re.findall(r'environ.get\("(\w+)"', path.read_text("utf-8"))}
    ours = {name for name in read_by_tests if name.startswith("REMOTE_EVALS_")}
    assert {find_code(row[0])[0] for row in find_table(PAGE, "variable").rows} == ours


def test_the_commands_of_pytest_can_be_run() -> None:
    """Each line has options that pytest has, here with its plugins, and folders that exist."""
    done = run_python("-m", "pytest", "--help")
    assert len(PYTEST) >= 4
    for line in PYTEST:
        assert named_options(line) <= named_options(done.out)
        paths = [word for word in shlex.split(line) if word.startswith("tests/")]
        assert all((ROOT / path).exists() for path in paths)


@pytest.mark.parametrize("line", [line for line in PYTEST if " -k " in line])
def test_a_selection_selects(line: str) -> None:
    """What a line with `-k` selects is there."""
    done = run_python(*shlex.split(line)[1:], "--collect-only", "-q")
    assert done.code == 0, done.all


def test_the_command_that_writes_the_table_selects_its_test() -> None:
    """The command beside the table runs the one test that writes it."""
    (command,) = re.findall(r"`(REMOTE_EVALS_UPDATE_SNAPSHOTS=1 [^`]+)`", TEXT)
    done = run_python(*shlex.split(command)[2:], "--collect-only", "-q")
    assert [line for line in done.out.splitlines() if "::" in line] == [
        "tests/integration/faults/test_fault_matrix.py::test_the_page_has_the_table"
    ]


def test_the_gate_can_be_run() -> None:
    """The gate is a program of this repository, and sets the variable that the page says."""
    assert LINES[0] == ".ci/run"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "REMOTE_EVALS_REQUIRE_ALL=1" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_the_mark_is_registered() -> None:
    """The mark and its threshold are those of pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (marker,) = [text for text in settings["tool"]["pytest"]["ini_options"]["markers"] if text.startswith("slow:")]
    (seconds,) = re.findall(r"more than (\d+) seconds", marker)
    assert f"take more than {seconds} seconds are marked `slow`" in TEXT
    assert f"--durations-min {seconds}" in "\n".join(PYTEST)


def test_the_benchmarks_have_these_options() -> None:
    """Every option and question of the benchmarks that the page names is one of theirs."""
    done = run_python("-m", "tests.benchmarks", "--help")
    lines = [line for line in LINES if "tests.benchmarks" in line]
    assert {option for line in lines for option in named_options(line)} <= named_options(done.out)
    assert {"--events", "--rounds"} <= named_options(done.out) & named_options(TEXT)
    for question in re.findall(r"--only (\w+)", "\n".join(lines)):
        assert question in done.out


def test_nothing_of_the_shell_is_untried() -> None:
    """Each line of the page is the gate, pytest or the benchmarks."""
    assert [line for line in LINES if line != ".ci/run" and line not in PYTEST and "tests.benchmarks" not in line] == []
