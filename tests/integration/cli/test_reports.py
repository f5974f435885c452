"""The contents of a run's reports, and where they are saved."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fake_server import FakeServer, parse_script
from tests.serving.command import remote_evals

SUITE = """
target: {{url: '{url}'}}
cases:
  - name: talk
    metadata: {{owner: team-a, level: 3, nested: {{list: [1, null]}}}}
    turns: [{{prompt: one, must_contain: good}}, {{prompt: two, must_contain: good}}]
    must_contain: good
  - {{name: plain, prompt: x}}
"""


def test_each_suite_has_its_target_in_the_reports(tmp_path: Path) -> None:
    """The JSON report has metadata, target and turns, and the JUnit report has the target of each suite."""
    json_path, junit_path = tmp_path / "r.json", tmp_path / "r.xml"
    script = parse_script("replies: [{text: all good}]")
    with FakeServer(script) as one, FakeServer(script) as two:
        for name, server in (("one", one), ("two", two)):
            (tmp_path / f"{name}.eval.yaml").write_text(SUITE.format(url=f"{server.url}?hidden=1"))
        done = remote_evals("run", tmp_path, "--json", json_path, "--junit", junit_path)
    assert done.code == 0, done.all
    results = json.loads(json_path.read_text("utf-8"))["results"]
    assert [(result["suite"], result["target"]) for result in results] == [
        *[("one", one.url)] * 2,
        *[("two", two.url)] * 2,
    ]
    talk, plain = results[:2]
    assert talk["metadata"] == {"owner": "team-a", "level": 3, "nested": {"list": [1, None]}}
    assert plain["metadata"] == {}
    assert [turn["turn"] for turn in talk["turns"]] == [1, 2]
    assert [assertion["turn"] for assertion in talk["assertions"]] == [1, 2, None]
    suites = ET.parse(junit_path).getroot()  # noqa: S314 - written a moment ago
    targets = [
        (suite.get("name"), [p.get("value") for p in suite.findall("properties/property[@name='target']")])
        for suite in suites
    ]
    assert targets == [("one", [one.url]), ("two", [two.url])]


def save_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("eval-*.json"))


@pytest.mark.parametrize(
    ("args", "folder"),
    [
        (["SUITE", "--save"], "results"),
        (["--save", "SUITE"], "results"),
        (["SUITE", "--save", "kept/here"], "kept/here"),
    ],
    ids=" ".join,
)
def test_save_keeps_the_results(tmp_path: Path, args: list[str], folder: str) -> None:
    """`--save` writes a file named after the time to DIR, or to `results` if no DIR is given."""
    (tmp_path / "s.eval.yaml").write_text("cases: [{name: plain, prompt: x}]")
    given = [arg.replace("SUITE", "s.eval.yaml") for arg in args]
    with FakeServer(parse_script("replies: [{text: x}]")) as server:
        done = remote_evals("run", *given, "--url", server.url, cwd=tmp_path)
    assert done.code == 0, done.all
    (saved,) = save_files(tmp_path)
    assert saved.parent == tmp_path / folder
    assert re.fullmatch(r"eval-\d{8}T\d{6}Z\.json", saved.name)
    assert f"saved {folder}/{saved.name}" in done.err
    assert [row["name"] for row in json.loads(saved.read_text("utf-8"))["results"]] == ["plain"]


@pytest.mark.parametrize("suites", ["evals", "evals/", "evals/*.yaml", "evals/s.eval.yaml"])
def test_a_bare_save_takes_no_suites_for_its_folder(tmp_path: Path, suites: str) -> None:
    """`--save` before a suite, a folder of suites or a pattern has no DIR: they run, and are saved in `results`."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "s.eval.yaml").write_text("cases: [{name: plain, prompt: x}]")
    # This suite would run as well if the suites were taken for DIR.
    (tmp_path / "other.eval.yaml").write_text("cases: [{name: other, prompt: x}]")
    with FakeServer(parse_script("replies: [{text: x}]")) as server:
        done = remote_evals("run", "--url", server.url, "--save", suites, cwd=tmp_path)
    assert done.code == 0, done.all
    (saved,) = save_files(tmp_path)
    assert saved.parent == tmp_path / "results"
    assert [row["name"] for row in json.loads(saved.read_text("utf-8"))["results"]] == ["plain"]


@pytest.mark.parametrize("report", ["--json", "--junit", "--markdown"])
def test_a_dash_is_no_report(tmp_path: Path, report: str) -> None:
    """A report to `-` is rejected before anything is sent, with what to write instead."""
    (tmp_path / "s.eval.yaml").write_text("cases: [{name: plain, prompt: x}]")
    with FakeServer(parse_script("replies: [{text: x}]")) as server:
        done = remote_evals("run", "--url", server.url, report, "-", cwd=tmp_path)
        assert (done.code, server.requests) == (2, []), done.all
    assert done.err == "error: `-` is not a file; write /dev/stdout for the standard output\n"
    assert not (tmp_path / "-").exists()


def test_markdown_is_a_table_with_the_failures_below(tmp_path: Path) -> None:
    """`--markdown` has a row for each case, whose name adds no column, and details of the failed one."""
    (tmp_path / "s.eval.yaml").write_text(
        "cases: [{name: plain, prompt: x}, {name: 'wrong | @everyone', prompt: x, must_contain: no such text}]"
    )
    with FakeServer(parse_script("replies: [{text: '```all good```'}]")) as server:
        done = remote_evals("run", "--url", server.url, "--markdown", "out/r.md", cwd=tmp_path)
    assert done.code == 1, done.all
    text = (tmp_path / "out" / "r.md").read_text("utf-8")
    lines = text.splitlines()
    assert lines[0] == "### ❌ 1/2 passed (50%), 1 failed"
    rows = [line for line in lines if line.startswith("|")][2:]
    assert [(row.count("|"), row.split(" | ")[0]) for row in rows] == [(7, "| ✅ passed"), (7, "| ❌ failed")]
    assert text.count("<details>") == 1
    assert "\n````text\n" in text
    assert "@everyone" not in text
