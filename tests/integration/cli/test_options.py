"""Single options of the command: what they leave out, refuse and accept."""

import glob
import json
from pathlib import Path

import pytest

from fake_server import FakeServer, parse_script
from tests.serving.command import remote_evals

CASE = "cases: [{name: a, prompt: x, must_contain: good}]"
GOOD = "replies: [{text: all good}]"
JSON_SUITE = {"cases": [{"name": "json", "prompt": "x"}]}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a suite of one case."""
    path = tmp_path / "s.eval.yaml"
    path.write_text(CASE)
    return path


def test_quiet_leaves_out_what_is_unremarkable(tmp_path: Path) -> None:
    """`--quiet` prints the totals and only the cases that failed or have a warning."""
    path = tmp_path / "s.eval.yaml"
    path.write_text(
        """cases:
          - {name: plain, prompt: x, must_contain: good}
          - {name: softly, prompt: x, soft: {must_contain: bad}}
          - {name: unpriced, prompt: x, max_cost_usd: 1, unknown_cost: skip}
          - {name: wrong, prompt: x, must_contain: bad}
        """
    )
    with FakeServer(parse_script(GOOD)) as server:
        done = remote_evals("run", path, "--url", server.url, "--quiet")
    assert (done.code, done.err) == (1, "")
    rows = [line.split()[1] for line in done.out.splitlines() if line.startswith("[")]
    assert rows == ["softly", "unpriced", "wrong"]
    assert "3/4 passed" in done.out.splitlines()[-1]


def test_two_reports_in_one_file_are_refused(suite: Path, tmp_path: Path) -> None:
    """Two reports for the same file are refused, even if its path is written in two ways."""
    with FakeServer(parse_script(GOOD)) as server:
        args = ["--json", tmp_path / "r", "--junit", tmp_path / "x" / ".." / "r"]
        done = remote_evals("run", suite, "--url", server.url, *args)
        assert (done.code, server.requests) == (2, []), done.all
    assert "two reports would be written to one file" in done.err
    assert not (tmp_path / "r").exists()


def test_a_choice_with_a_typo_runs_nothing(suite: Path, tmp_path: Path) -> None:
    """If one of two names matches no case, nothing is sent and the report is empty."""
    report = tmp_path / "r.json"
    with FakeServer(parse_script(GOOD)) as server:
        done = remote_evals("run", suite, "--url", server.url, "--only", "a", "--only", "typo", "--json", report)
        assert (done.code, server.requests) == (1, []), done.all
    assert "no case is named 'typo'" in done.err
    assert json.loads(report.read_text("utf-8"))["results"] == []


@pytest.mark.parametrize("option", ["--url", "--token", "--token-env"])
def test_an_empty_option_is_refused(suite: Path, option: str) -> None:
    """An option with an empty value is an error, and no environment variable replaces it."""
    with FakeServer(parse_script(GOOD)) as server:
        env = {"REMOTE_EVALS_URL": server.url, "REMOTE_EVALS_TOKEN": "right-token-1"}
        done = remote_evals("run", suite, option, "", env=env)
        assert (done.code, server.requests) == (2, []), done.all
    assert option in done.err


@pytest.mark.parametrize("url", ["nonsense", "http://me:pw@host", " "])
def test_a_bad_url_in_the_environment_does_not_stop_the_fake(suite: Path, tmp_path: Path, url: str) -> None:
    """`--fake` brings its own URL, so the one in the environment is not read."""
    script = tmp_path / "fake.yaml"
    script.write_text(GOOD)
    done = remote_evals("run", suite, "--fake", script, env={"REMOTE_EVALS_URL": url})
    assert done.code == 0, done.all


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["evals/*.yaml", "evals/[ab].*", "evals/*/*.json", "*", "evals/s?b"])
def test_a_quoted_glob_takes_what_the_shell_takes(tmp_path: Path, pattern: str) -> None:
    """A quoted pattern selects the same suites as one that the shell expands."""
    for name in ("a.yaml", "b.eval.yaml", ".hidden.yaml", "sub/c.eval.json", "sub/d.json"):
        path = tmp_path / "evals" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{{cases: [{{name: {path.name}, prompt: x}}]}}" if "yaml" in name else json.dumps(JSON_SUITE))
    expanded = sorted(glob.glob(pattern, root_dir=tmp_path))
    assert expanded
    quoted, shell = (remote_evals("list", *args, cwd=tmp_path) for args in ([pattern], expanded))
    assert (shell.code, shell.err) == (0, "")
    assert (quoted.code, quoted.out, quoted.err) == (0, shell.out, "")
