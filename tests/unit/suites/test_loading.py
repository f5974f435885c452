"""How suite files become suites and evals."""

import json
from pathlib import Path
from typing import Any

import pytest

from remote_evals.errors import SuiteError
from remote_evals.suites.loading import LoadedSuite, load_suites, make_evals

CASES: list[dict[str, Any]] = [
    {"id": "one", "input": "hi", "max_iterations": 3},
    {"name": "two", "prompt": "there", "tags": ["smoke"]},
]
YAML = "cases:\n- {id: one, input: hi, max_iterations: 3}\n- {name: two, prompt: there, tags: [smoke]}\n"


def load(folder: Path, name: str, text: str, variables: dict[str, str] | None = None, **options: Any) -> LoadedSuite:
    path = folder / name
    path.write_text(text, "utf-8", newline="")
    (loaded,) = load_suites([str(path)], variables or {}, **options)
    assert isinstance(loaded, LoadedSuite)
    return loaded


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.eval.yaml", YAML),
        ("a.eval.yml", YAML.removeprefix("cases:\n")),
        ("a.eval.json", json.dumps({"cases": CASES})),
        ("a.eval.json", json.dumps(CASES, indent="\t")),
        ("a.eval.jsonl", "\n".join(map(json.dumps, CASES))),
        ("a.eval.yaml", "\ufeff" + YAML.replace("\n", "\r\n")),
    ],
    ids=["yaml suite", "yaml list", "json suite", "json list", "jsonl", "yaml of Windows"],
)
def test_every_format_gives_the_same_suite(name: str, text: str, tmp_path: Path) -> None:
    """A suite or a list of cases gives the same suite in YAML, JSON and JSONL, named after its file."""
    loaded = load(tmp_path, name, text)
    assert (loaded.file, loaded.suite.name) == (str(tmp_path / name), "a")
    assert [(case.name, case.prompt, case.max_steps, case.tags) for case in loaded.suite.cases] == [
        ("one", "hi", 3, ()),
        ("two", "there", None, ("smoke",)),
    ]


def test_a_suite_has_its_name_target_and_defaults(tmp_path: Path) -> None:
    """A suite may have its own name, a target, and defaults that fill in its cases."""
    text = (
        "name: shop\ntarget:\n  url: https://host/api/\n  token_env: TOKEN\n  headers: {X-A: b}\n"
        "defaults: {max_steps: 7, tags: [all], timeout: 2m}\n" + YAML
    )
    suite = load(tmp_path, "a.eval.yaml", text, needs_target=True).suite
    assert (suite.name, suite.target.url, suite.target.token_env) == ("shop", "https://host/api", "TOKEN")
    assert suite.target.headers == {"X-A": "b"}
    assert [(case.max_steps, case.tags, case.timeout) for case in suite.complete_cases] == [
        (3, ("all",), 120.0),
        (7, ("all", "smoke"), 120.0),
    ]


def test_cases_become_evals_in_order(tmp_path: Path) -> None:
    """Every case becomes an eval with its suite, file, tags and time limit."""
    loaded = load(tmp_path, "shop.eval.yaml", "defaults: {tags: [all], timeout: 5}\n" + YAML)
    evals = make_evals([loaded])
    assert [(one.name, one.suite, one.tags, one.timeout_s) for one in evals] == [
        ("one", "shop", ("all",), 5.0),
        ("two", "shop", ("all", "smoke"), 5.0),
    ]
    assert {one.file for one in evals} == {loaded.file}


def test_variables_are_filled_in_anywhere(tmp_path: Path) -> None:
    """A variable may replace any text or number; its value is never parsed as YAML."""
    text = "target: {url: '${HOST:-https://host}'}\ncases:\n- {name: a, prompt: '${P}', max_steps: '${N}'}\n"
    suite = load(tmp_path, "a.eval.yaml", text, {"P": "[x]: {y}", "N": "5"}).suite
    assert suite.target.url == "https://host"
    assert (suite.cases[0].prompt, suite.cases[0].max_steps) == ("[x]: {y}", 5)


@pytest.mark.parametrize("endings", [("a.eval.yaml", "b.eval.json"), ("b.eval.jsonl", "c.eval.yml")])
def test_a_folder_gives_all_its_suites(endings: tuple[str, str], tmp_path: Path) -> None:
    """All suites below a folder are loaded, in the order of their names."""
    for name in endings:
        (tmp_path / name).write_text(json.dumps(CASES[0] if name.endswith("jsonl") else CASES))
    assert [Path(loaded.file).name for loaded in load_suites([str(tmp_path)], {})] == list(endings)


def test_problems_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    """One error holds every problem of every file and pattern, in order; no suite is returned."""
    (tmp_path / "a.eval.yaml").write_text(YAML + "- {name: three, prompt: y, promt: x}\n- {name: four}\n")
    (tmp_path / "b.eval.json").write_text('[{"id": "one",\n"input": "${NO}"}]')
    (tmp_path / "c.eval.yaml").write_text(YAML)
    (tmp_path / "d.eval.yaml").write_text("cases: [\n")
    with pytest.raises(SuiteError) as caught:
        load_suites(["none.yaml", str(tmp_path)], {})
    starts = [
        "none.yaml: no such file",
        "a.eval.yaml:4: cases[2]",
        "a.eval.yaml:5: cases[3]",
        "b.eval.json:2: cases[0]",
    ]
    problems = [problem.removeprefix(f"{tmp_path}/") for problem in caught.value.problems]
    assert all(problem.startswith(start) for problem, start in zip(problems, starts, strict=False))
    assert problems[-1].startswith("d.eval.yaml:2: not YAML")
    assert len(problems) == 5


def test_the_same_name_in_two_files_is_no_problem(tmp_path: Path) -> None:
    """Case names must be unique within a suite, but not across suites."""
    for name in ("a.eval.yaml", "b.eval.yaml"):
        (tmp_path / name).write_text(YAML)
    assert len(load_suites([str(tmp_path)], {})) == 2
