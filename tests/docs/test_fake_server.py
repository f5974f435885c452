"""The page of the fake server: its commands, its script, and its faults are those of the code."""

import re
import shlex

from fake_server.__main__ import REFERENCE
from fake_server.faults import ANSWERS, BODIES, FRAMES, ORDER
from tests.docs.pages import fenced_blocks, find_broken_links, find_code, find_long_lines, find_table, read_written
from tests.serving.command import ROOT, remote_evals, run_python

PAGE = "fake_server/README.md"


def test_links_and_lines_are_sound() -> None:
    """Every link leads somewhere, and no line is too long to be read."""
    assert list(find_broken_links(PAGE)) == []
    reference = REFERENCE.read_text("utf-8").splitlines()
    assert [line for line in find_long_lines(PAGE) if line not in reference] == []


def test_the_commands_run() -> None:
    """The suite passes as it is written, and the options of the server exist."""
    run, serve = [shlex.split(line) for line in fenced_blocks(PAGE, "")[0].splitlines()]
    done = remote_evals(*run[1:], cwd=ROOT)
    assert done.code == 0, done.all
    offered = run_python("-m", "fake_server", "--help").out
    assert all(option in offered for option in serve if option.startswith("--"))
    assert re.search(r"`--host` and `--port`", (ROOT / PAGE).read_text("utf-8"))


def test_the_python_runs() -> None:
    """The server in code runs as it is written."""
    (code,) = fenced_blocks(PAGE, "python")
    done = run_python("-c", code)
    assert done.code == 0, done.all


def test_the_faults_are_those_of_the_code() -> None:
    """Each group of the table has the faults of its group, in their order."""
    groups = [find_code(row[1]) for row in find_table(PAGE, "group", "faults").rows]
    assert groups == [list(group) for group in (ANSWERS, BODIES, FRAMES, ORDER)]


def test_the_reference_is_the_one_that_is_printed() -> None:
    """The page shows the script that `--reference` prints; REMOTE_EVALS_UPDATE_SNAPSHOTS=1 writes it first."""
    reference = f"```yaml\n{REFERENCE.read_text('utf-8')}```\n"
    assert read_written(PAGE, "reference", reference) == reference
