"""Which suite files are found by paths, folders and globs."""

from pathlib import Path

import pytest

from remote_evals.suites.discovery import find_suite_files, is_judged

FILES = [
    "a.eval.yaml",
    "b.eval.yml",
    "c.eval.json",
    "sub/d.eval.jsonl",
    "sub/a.eval.yaml",
    "plain.yaml",
    "notes.eval.txt",
    ".hidden/x.eval.yaml",
    "node_modules/x.eval.yaml",
    "sub/venv/x.eval.yaml",
    "sub/__pycache__/x.eval.yaml",
    "folder.eval.yaml/inner.eval.yaml",
]
SUITES = ["a.eval.yaml", "b.eval.yml", "c.eval.json", "folder.eval.yaml/inner.eval.yaml"]
SUITES_BELOW = ["sub/a.eval.yaml", "sub/d.eval.jsonl"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "dangling.eval.yaml").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ([], SUITES + SUITES_BELOW),
        (["."], SUITES + SUITES_BELOW),
        (["sub"], SUITES_BELOW),
        (["sub/"], SUITES_BELOW),
        (["plain.yaml"], ["plain.yaml"]),
        (["*.yaml"], ["a.eval.yaml", "folder.eval.yaml/inner.eval.yaml", "plain.yaml"]),
        (["**/*.eval.json*"], ["c.eval.json", "sub/d.eval.jsonl"]),
        (["sub", "a.eval.yaml"], [*SUITES_BELOW, "a.eval.yaml"]),
        (["sub", "./sub/a.eval.yaml", "sub"], SUITES_BELOW),
        (["folder.eval.yaml"], ["folder.eval.yaml/inner.eval.yaml"]),
        ([".hidden"], [".hidden/x.eval.yaml"]),
    ],
    ids=str,
)
def test_files_folders_and_globs_name_suites(patterns: list[str], found: list[str]) -> None:
    """A file stands for itself, a folder for its suites, a glob for its matches: each sorted and without repeats."""
    assert find_suite_files(patterns) == ([Path(name) for name in found], [])


def test_a_file_named_in_two_ways_is_one_file(tmp_path: Path) -> None:
    """A file that is named by its relative and its absolute path is found once."""
    files, _ = find_suite_files(["a.eval.yaml", str(tmp_path / "a.eval.yaml")])
    assert len(files) == 1


def test_a_link_to_a_suite_is_a_suite(tmp_path: Path) -> None:
    """A symlink to a suite is found as a suite."""
    (tmp_path / "link.eval.yaml").symlink_to("plain.yaml")
    assert find_suite_files(["link.*"]) == ([Path("link.eval.yaml")], [])


def test_a_name_that_looks_like_a_pattern_is_a_file_first(tmp_path: Path) -> None:
    """The name of an existing file is taken literally, even if it has brackets."""
    (tmp_path / "a[1].eval.yaml").touch()
    assert find_suite_files(["a[1].eval.yaml"]) == ([Path("a[1].eval.yaml")], [])


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("sub/venv/none", "no such file or folder (looked in "),
        ("dangling.eval.yaml", "no such file or folder"),
        ("none*.yaml", "the pattern matches no .yaml, .yml, .json, .jsonl or .py file"),
        ("notes.eval.txt", "not a suite: its name must end in .yaml, .yml, .json, .jsonl"),
        ("empty", "no suite below this folder; suites are named *.eval.yaml, .yml, .json, .jsonl or *_eval.py"),
        ("x" * 300, "no such file or folder"),
        ("nul\0", "no such file or folder"),
    ],
    ids=ascii,
)
def test_what_names_no_suite_is_a_problem(pattern: str, problem: str, tmp_path: Path) -> None:
    """A pattern that names no suite is reported with the reason, and other suites are still found."""
    (tmp_path / "empty").mkdir()
    files, problems = find_suite_files([pattern, "a.eval.yaml"])
    assert files == [Path("a.eval.yaml")]
    (reported,) = problems
    assert reported.startswith(f"{pattern}: {problem}")


@pytest.mark.parametrize(
    ("name", "judged"),
    [
        ("x_judge_eval.py", True),
        ("eval_x_judge.py", True),
        ("x.judge.eval.yaml", True),
        ("x.judge.eval.jsonl", True),
        ("x_eval.py", False),
        ("eval_judge_x.py", False),
        ("x_judge.py", False),
        ("judge.eval.yaml", False),
    ],
)
def test_a_name_says_that_a_suite_needs_a_judge(name: str, judged: bool) -> None:
    """Only names with `judge` in the right place mark a suite that needs a judge."""
    assert is_judged(Path("evals") / name) is judged
