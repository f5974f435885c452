"""Which cases `run`, `list` and `validate` select."""

from pathlib import Path

import pytest

from fake_server import FakeServer, parse_script
from tests.serving.command import remote_evals

SUITE = """
defaults: {tags: [all]}
cases:
  - {name: order lookup, prompt: one, tags: [smoke]}
  - {name: order refund, prompt: two, tags: [money, slow]}
  - {name: greeting, prompt: three}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a suite, and with files that are not suites."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "s.eval.yaml").write_text(SUITE)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "h.eval.yaml").write_text("broken: [")
    (tmp_path / "notes.yaml").write_text("not: a suite")
    return tmp_path


@pytest.mark.parametrize(
    ("args", "prompts"),
    [
        ([], ["one", "two", "three"]),
        (["--tag", "smoke"], ["one"]),
        (["--tag", "smoke,money"], ["one", "two"]),
        (["--tag", "smoke", "--tag", "slow"], ["one", "two"]),
        (["--only", "greeting"], ["three"]),
        (["--only", "order *"], ["one", "two"]),
        (["--only", "order *", "--tag", "money"], ["two"]),
    ],
    ids=lambda value: " ".join(value) or "all",
)
def test_tags_and_names_choose_the_cases(folder: Path, args: list[str], prompts: list[str]) -> None:
    """`--tag` and `--only` select the cases, can be repeated and combined, and nothing else is sent."""
    with FakeServer(parse_script("replies: [{text: x}]")) as server:
        done = remote_evals("run", "--url", server.url, "--concurrency", "1", *args, cwd=folder)
        assert done.code == 0, done.all
        assert [request.body["input"] for request in server.requests] == prompts


def test_list_shows_file_name_and_tags(folder: Path) -> None:
    """`list` shows the cases that `run` would select, one per line."""
    done = remote_evals("list", "--tag", "smoke,money", cwd=folder)
    assert (done.code, done.out.splitlines()) == (
        0,
        ["evals/s.eval.yaml: order lookup  [all, smoke]", "evals/s.eval.yaml: order refund  [all, money, slow]"],
    )


def test_list_of_nothing_is_1(folder: Path) -> None:
    """A selection without a case is reported by `list`, with the nearest tag, and exits with 1."""
    done = remote_evals("list", "--tag", "smoek", cwd=folder)
    assert (done.code, done.out) == (1, "")
    assert "did you mean 'smoke'?" in done.err


def test_validate_reports_each_file_or_each_problem(folder: Path) -> None:
    """`validate` exits with 0 and a line per file, or with 2 and a line per problem."""
    done = remote_evals("validate", cwd=folder)
    assert (done.code, done.out) == (0, "evals/s.eval.yaml: ok, 3 case(s)\n")
    done = remote_evals("validate", "evals", "notes.yaml", ".hidden/h.eval.yaml", cwd=folder)
    assert done.code == 2
    assert [line.partition(": ")[0] for line in done.err.splitlines()] == [
        "notes.yaml:1",
        "notes.yaml:1",
        ".hidden/h.eval.yaml:1",
    ]


@pytest.mark.parametrize("command", ["run", "list", "validate"])
def test_a_folder_without_suites_is_2(tmp_path: Path, command: str) -> None:
    """Without a suite, every command exits with 2."""
    done = remote_evals(command, cwd=tmp_path)
    assert done.code == 2
    assert "no suite below this folder" in done.err
