"""The page of reports: every key of a JSON report stands on it and no other, and what it shows works."""

import inspect
import json
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest
import yaml

from remote_evals import EvalCase
from remote_evals.config.settings import ReportSettings, load_settings
from remote_evals.reporters import (
    REPORT_FORMATS,
    parse_json_report,
    render_annotations,
    render_json_report,
    render_junit,
    render_markdown,
    write_report,
)
from remote_evals.reporters.json_report import FORMAT_VERSION
from remote_evals.results import ASSERTION_KEYS, EvalResult
from tests.docs.command_lines import COMMANDS, list_options
from tests.docs.example_agents import run_command, split_command_lines
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
)
from tests.serving.command import ROOT
from tests.unit.reporters.report_samples import repeated, report, rich_report, skipped

PAGE = "remote_evals/reporters/README.md"
TEXT = " ".join(read(PAGE).split())

# What the agent, the suite and its checks name themselves.
OPEN_FIELDS = {"args", "result", "object", "metadata", "question", "checks"}


def list_keys(objects: Iterable[Mapping[str, Any]], closed: Iterable[str] = ()) -> set[str]:
    """Return the keys of objects, and those of the objects in them as `usage.cost_usd`, but for `closed` ones."""
    items = [item for one in objects for item in one.items()]
    inner = [(key, value) for key, value in items if isinstance(value, dict) and key not in {*OPEN_FIELDS, *closed}]
    return {key for key, _ in items} | {f"{key}.{name}" for key, value in inner for name in list_keys([value])}


def list_described(*titles: str) -> list[str]:
    """Return the keys in the first column of the tables with these titles."""
    return [key for title in titles for row in find_table(PAGE, title).rows for key in find_code(row[0])]


def test_the_page_is_sound() -> None:
    """Its lines are short, its links lead somewhere, and the options that it names exist."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []
    assert named_options(TEXT) - {"--body-file"} <= {option for command in COMMANDS for option in list_options(command)}


# A report in which no object is null: runs that passed, failed, broke, paused and were graded.
SAMPLE: dict[str, Any] = json.loads(render_json_report(rich_report()))
RESULTS: list[dict[str, Any]] = SAMPLE["results"]
KEYS = {
    "key of the report": list_keys([SAMPLE], closed=["summary"]),
    "key of `summary`": list_keys([SAMPLE["summary"]], closed=["judge_usage"]),
    "key of `cases`": list_keys(SAMPLE["cases"]),
    "key of `results`": list_keys(RESULTS),
    "key of `turns`": list_keys(turn for result in RESULTS for turn in result["turns"]),
    "key of `tool_calls`": list_keys(call for result in RESULTS for call in result["tool_calls"]),
    "key of `assertions`": list_keys(one for result in RESULTS for one in result["assertions"]),
}


@pytest.mark.parametrize("title", KEYS)
def test_every_key_of_a_report_is_described_and_no_other(title: str) -> None:
    """Each key of a sample report stands once in the table of its object, and each key of a table in the sample."""
    is_run = title in ("key of `results`", "key of `turns`")
    keys = list_described(title, *(["key of a run"] if is_run else []))
    assert sorted(keys) == sorted(KEYS[title])


def test_the_format_is_that_of_the_code() -> None:
    """The page tells of the format that is written."""
    assert f"This is format {FORMAT_VERSION}." in TEXT
    assert f"| `format_version` | {FORMAT_VERSION} |" in TEXT


def test_every_assertion_key_is_described() -> None:
    """The keys of assertions are those that are made, and what makes them is a check of data or an option."""
    assert sorted(list_described("assertion key")) == sorted(ASSERTION_KEYS)
    checks = {check for row in find_table(PAGE, "assertion key").rows for check in find_code(row[1])}
    assert checks - {"--strict-protocol"} <= set(EvalCase.valid_keys())


def test_the_reports_are_those_of_the_command() -> None:
    """The table has an option for every format and for saved reports, which settings can name too."""
    table = " ".join(row[1] for row in find_table(PAGE, "report").rows)
    wanted = [*REPORT_FORMATS, "save"]
    assert [name for name in wanted if f"`--{name} " not in table] == []
    assert sorted(ReportSettings.valid_keys()) == sorted(wanted)


def test_the_settings_can_be_loaded(tmp_path: Path) -> None:
    """The settings on the page stand in pyproject.toml, or without `tool.remote-evals` in remote-evals.toml."""
    (block,) = fenced_blocks(PAGE, "toml")
    (tmp_path / "pyproject.toml").write_text(block, "utf-8")
    (tmp_path / "remote-evals.toml").write_text(block.replace("[tool.remote-evals.reports]", "[reports]"), "utf-8")
    for name in ("pyproject.toml", "remote-evals.toml"):
        reports = load_settings(tmp_path / name, tmp_path, {}).reports
        assert reports.get_path("junit") == tmp_path / "reports" / "results.xml"
        assert reports.save_folder == tmp_path / "reports" / "history"


@pytest.mark.parametrize("block", fenced_blocks(PAGE, "yaml"), ids=lambda block: block.splitlines()[0])
def test_the_workflows_write_what_they_hand_on(block: str, tmp_path: Path) -> None:
    """Each workflow is YAML whose command writes the report that a later line of it reads."""
    job = yaml.safe_load(block)
    job = job.get("jobs", job)["evals"]
    lines = job.get("script") or [step["run"] for step in job["steps"] if "run" in step]
    (line,) = (line for line in lines if line.startswith("remote-evals "))
    (words,) = split_command_lines(line)
    target = ["--fake", ROOT / "examples" / "refund.fake.yaml"]
    deployment = words.index("--url"), words.index("--token-env") + 2
    command = [*words[: deployment[0]], *map(str, target), *words[deployment[1] :]]
    done = run_command([ROOT_SUITE if word == "evals" else word for word in command], tmp_path)
    assert done.code == 0, done.all
    (written,) = (path.name for path in tmp_path.iterdir())
    assert block.count(written) == 2


ROOT_SUITE = str(ROOT / "examples" / "refund.eval.yaml")


def test_the_script_reads_a_report(tmp_path: Path) -> None:
    """The lines of Python on the page read a report and list its cases."""
    (code,) = fenced_blocks(PAGE, "python")
    text = render_json_report(report(*repeated("flow", "passed", "failed")))
    (tmp_path / "results.json").write_text(text, "utf-8")
    done = run_command(["python", "-c", code], tmp_path)
    assert (done.code, done.out) == (0, "failed flow 1/2\n"), done.all
    assert parse_json_report(text).cases[0].rate == "1/2"


def test_a_report_is_the_owners_alone(tmp_path: Path) -> None:
    """The mode of a report is the one that the page names, in a folder that was missing."""
    path = tmp_path / "new" / "results.json"
    write_report(path, "{}")
    assert f"(mode {stat.S_IMODE(path.stat().st_mode):04o})" in TEXT


def test_the_limits_of_what_github_shows_are_as_told() -> None:
    """The length of the Markdown and the number of annotations are those of the code."""
    markdown, annotations = (
        inspect.signature(render).parameters["limit"].default for render in (render_markdown, render_annotations)
    )
    assert f"It is at most {markdown // 2**20} MiB long" in TEXT
    assert f"GitHub shows {annotations} annotations for a step" in TEXT


def junit_of(*results: EvalResult) -> Element:
    """Return the first case of a JUnit report."""
    found = fromstring(render_junit(report(*results))).find(".//testcase")  # noqa: S314 - our own XML
    assert found is not None
    return found


def test_junit_names_outcomes_as_told() -> None:
    """A case kept from running is an error of its code, and only what --fail-fast left out is skipped."""
    codes = ("NOT_READY", "TOKEN_REFUSED", "MAX_TIME", "INTERRUPTED", "FAILED_FAST")
    outcomes = {code: junit_of(skipped("a", code=code)) for code in codes}
    assert [code for code in codes if outcomes[code].find("skipped") is not None] == ["FAILED_FAST"]
    assert all(outcomes[code].find(f"error[@type='{code}']") is not None for code in codes[:-1])
    assert junit_of(*repeated("a", "failed")).find("failure[@type='gate']") is not None


def test_the_properties_of_junit_are_all_told() -> None:
    """The page names every property of a case, and no other."""
    section = TEXT.partition("The properties of a case are ")[2].partition(".  ")[0].partition("GitLab shows")[0]
    runs = repeated("a", "passed", "failed", pass_at=1, tags=("smoke",), metadata={"NAME": "x"})
    runs = [one.model_copy(update={"turns": (one.run, rich_report().results[0].run)}) for one in runs]
    found = {element.get("name") for element in junit_of(*runs).iter("property")}
    assert found == set(find_code(section))
