"""The page of evals in code: its blocks run, and its tables are those of the API."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import remote_evals
from remote_evals import EvalCase, EvalContext, EvalRunner, LLMJudge, RunResult, define_eval, parse_judge_score
from remote_evals.evals.assertions.methods import Assertions
from remote_evals.judging.request import MAX_ATTEMPTS, MAX_BODY_BYTES
from remote_evals.pytest_plugin import pytest_addoption
from remote_evals.suites.expectations import Expectations
from tests.docs.command_lines import COMMANDS, list_options
from tests.docs.example_agents import environment_of, run_command, serve_examples, split_command_lines
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
)
from tests.serving.command import run_python

PAGE = "remote_evals/evals/README.md"
TEXT = " ".join(read(PAGE).split())
CODE = fenced_blocks(PAGE, "python")
FILES = {name: code for code in CODE if (name := code.splitlines()[0].removeprefix("# ")).endswith(".py")}
SCRIPTS = [code for code in CODE if code not in FILES.values()]

WAITS, DATA_AND_CODE = find_table(PAGE, "call"), find_table(PAGE, "in data")


def test_the_page_is_sound() -> None:
    """Its lines are short, its links lead somewhere, and the options that it names exist."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []
    known = {option for command in COMMANDS for option in list_options(command)}
    assert named_options(TEXT) - {"--junitxml"} <= {*known, *list_plugin_options()}


def test_the_commands_run() -> None:
    """The three ways to run a file of evals all pass, the latter two against a deployment."""
    (block,) = fenced_blocks(PAGE, "")
    with serve_examples() as server:
        for words in split_command_lines(block.replace("https://agent.example.com/support", server.url)):
            done = run_command([*words, *_quiet(words)], env={"AGENT_TOKEN": server.token or ""})
            assert (done.code, "3 passed" in done.out or "3/3 passed" in done.out) == (0, True), done.all


def _quiet(words: list[str]) -> list[str]:
    return ["-p", "no:cacheprovider"] if words[0] == "pytest" else []


@pytest.mark.parametrize("name", FILES)
def test_a_file_on_the_page_passes(name: str, tmp_path: Path) -> None:
    """Each file of evals or tests passes as it stands: in process, or against the agents of the examples."""
    (tmp_path / name).write_text(FILES[name], "utf-8")
    with serve_examples() as server:
        if name.startswith("test_"):
            command = ["pytest", "-p", "no:cacheprovider", name, "--remote-url", server.url]
        else:
            has_agent = "agent=" in FILES[name]
            command = ["remote-evals", "run", name, *([] if has_agent else ["--url", server.url])]
        done = run_command(command, tmp_path, environment_of(server))
    assert done.code == 0, done.all
    assert re.search(r"[1-9]/[1-9] passed \(100%\)|^=* *1 passed", done.out, re.MULTILINE), done.all
    assert "warning" not in done.out


@pytest.mark.parametrize("code", SCRIPTS, ids=map(str, range(len(SCRIPTS))))
def test_a_script_on_the_page_runs(code: str) -> None:
    """Each other block of Python runs as it stands, at the URL of a fake deployment and judge."""
    with serve_examples() as server:
        done = run_python("-c", code.replace("http://127.0.0.1:8000", server.url), env=environment_of(server))
    assert done.code == 0, done.all


def calls_in(text: str) -> dict[str, list[str]]:
    """Return the methods of `t` that a text names as calls with parameter names, and these."""
    found = re.findall(r"`t\.(\w+)\(([^`]*)\)`", text)
    return {name: [one.strip() for one in given.split(",") if one.strip()] for name, given in found}


def parameters_of(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_everything_of_t_is_named() -> None:
    """The page names every method and property of `t`, and each method with its parameters."""
    calls = calls_in(TEXT)
    properties = set(re.findall(r"`t\.(\w+)`", TEXT))
    plain = {name for name in vars(EvalContext(None, None)) if not name.startswith("_")}  # type: ignore[arg-type]
    members = {name for name in dir(EvalContext) if not name.startswith("_")} | plain
    assert calls.keys() | properties == members
    wrong = {name: given for name, given in calls.items() if given != parameters_of(getattr(EvalContext, name))}
    assert wrong == {}


def test_the_tables_of_t_are_sorted_by_kind() -> None:
    """What waits is in the first table, the assertions are in the second, and the properties in the last."""
    members = {name: getattr(EvalContext, name) for name in dir(EvalContext) if not name.startswith("_")}
    waits = {name for name, member in members.items() if inspect.iscoroutinefunction(inspect.unwrap(member))}
    assert calls_in(" ".join(row[0] for row in WAITS.rows)).keys() == waits
    asserting = {name for name in vars(Assertions) if inspect.isfunction(vars(Assertions)[name]) and name[0] != "_"}
    assert asserting - calls_in(" ".join(row[1] for row in DATA_AND_CODE.rows)).keys() == {
        "accept_end",
        "keep_conclusive",
        "scrub",
    }


def test_each_check_of_data_is_one_in_code() -> None:
    """The table has every check of data, and what stands beside it makes the same assertion."""
    keys = [key for row in DATA_AND_CODE.rows for key in find_code(row[0])]
    assert set(keys) == {*Expectations.model_fields, "rubric", "threshold", "soft", "turns"}
    rows = find_table("remote_evals/suites/README.md", "check").rows
    examples = {row[0].strip("`"): yaml.safe_load(row[2].strip("`").replace(r"\|", "|")) for row in rows}
    for row in DATA_AND_CODE.rows:
        given = {key: examples[key] for key in find_code(row[0]) if key in examples}
        if given and "finish_reason" not in given:
            case = EvalCase.model_validate({"name": "a", "prompt": "hi", **given})
            (result,) = EvalRunner(agent=lambda prompt: prompt).run(case).results
            (method,) = calls_in(row[1])
            assert {made.name.partition("(")[0] for made in result.assertions} - {"completed"} == {method}


def test_the_checks_of_values_are_those_of_the_api() -> None:
    """The table has every check that can be imported, with its parameter."""
    rows = find_table(PAGE, "check of a value").rows
    named = dict(re.fullmatch(r"`(\w+)\((\w+)\)`", cell).groups() for cell, _ in rows)  # type: ignore[union-attr, misc]
    made = {name for name in remote_evals.__all__ if _returns_check(getattr(remote_evals, name))}
    assert named.keys() == made
    assert {name: [parameter] for name, parameter in named.items()} == {
        name: parameters_of(getattr(remote_evals, name)) for name in made
    }


def _returns_check(value: Any) -> bool:
    return inspect.isfunction(value) and inspect.signature(value).return_annotation is remote_evals.Check


@pytest.mark.parametrize("function", [define_eval, EvalRunner])
def test_the_parameters_are_all_named(function: Callable[..., Any]) -> None:
    """The tables of `define_eval` and of `EvalRunner` have all parameters, and their defaults are those of the code."""
    rows = find_table(PAGE, f"parameter of `{function.__name__}`").rows
    parameters = inspect.signature(function).parameters
    assert sorted(name for row in rows for name in find_code(row[0])) == sorted(parameters)
    for cell, meaning in rows:
        if told := re.search(r"`([\d.]+)`(?: \(none\))? by default", meaning):
            (name,) = find_code(cell)
            assert float(told[1]) == parameters[name].default


def test_the_threshold_of_a_score_is_as_told() -> None:
    """A score must reach 0.5 unless the definition says otherwise."""
    assert "which must reach the threshold, `0.5` by default" in TEXT
    assert inspect.signature(define_eval).parameters["threshold"].default == 0.5


class OptionNames:
    """Stands in for pytest's parser and keeps the names of the options that are added."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def getgroup(self, *_: Any) -> "OptionNames":
        return self

    def addoption(self, name: str, **_: Any) -> None:
        self.names.append(name)


def list_plugin_options() -> list[str]:
    """Return the options that the plugin adds to pytest, in its order."""
    parser = OptionNames()
    pytest_addoption(parser)  # type: ignore[arg-type]
    return parser.names


def test_the_options_of_pytest_are_all_named() -> None:
    """The table has every option of the plugin."""
    assert [find_code(row[0])[0] for row in find_table(PAGE, "option").rows] == list_plugin_options()


ANSWERS: dict[str, Any] = {
    "reply": "Hello.",
    "tool_calls": [{"name": "lookup"}],
    "steps": 3,
    "usage": {"totalTokens": 7, "costUsd": 0.5},
    "finish_reason": "length",
    "object": {"a": 1},
}


def test_an_agent_may_return_each_key() -> None:
    """Each key of an agent's answer, in each spelling, is one of the run."""
    rows = find_table(PAGE, "key of an answer").rows
    assert [row[0].strip("`") for row in rows] == list(ANSWERS)
    for key, others, _ in rows:
        for spelling in find_code(key + others):
            value = ANSWERS[key.strip("`")]
            case = EvalCase(name="a", prompt="hi")
            (result,) = EvalRunner(agent=lambda _, given={spelling: value}: given).run(case).results
            assert result.error is None
            assert getattr(result.run, key.strip("`"))


def test_a_run_has_the_fields_that_are_told() -> None:
    """A `RunResult` has the fields of a run in the page of reports, `error` for `run_error`, and those of a turn."""
    run, turn = (find_table("remote_evals/reporters/README.md", f"key of {one}").rows for one in ("a run", "`turns`"))
    keys = {key for row in [*run, *turn] for key in find_code(row[0]) if "." not in key}
    assert keys - {"run_error"} | {"error"} == RunResult.model_fields.keys() | RunResult.model_computed_fields.keys()


@pytest.mark.parametrize("name", ["session", "session_id", "thread_id"])
def test_an_agent_gets_the_session_by_name(name: str) -> None:
    """A parameter with one of the names on the page is the id of the session."""
    agent: dict[str, Any] = {}
    exec(f"def answer(prompt, *, {name}): return {name}", agent)  # noqa: S102 - a parameter of this name
    (result,) = EvalRunner(agent=agent["answer"]).run(EvalCase(name="a", prompt="hi")).results
    assert result.output == result.session_id
    assert f"`{name}`" in TEXT


def test_scores_are_read_as_told() -> None:
    """Each form of a score that the page shows is read, and text without one is not."""
    told = {"SCORE: 0.9": 0.9, "Score: 8/10": 0.8, "85%": 0.85, "PASS": 1.0, "FAIL": 0.0}
    assert all(f"`{text}`" in TEXT for text in told)
    assert {text: parse_judge_score(text) for text in told} == told
    assert parse_judge_score("I liked it") is None


def test_the_numbers_of_judges_are_as_told() -> None:
    """The attempts, the sizes and the times of a judge are those of the code."""
    parameters = inspect.signature(LLMJudge).parameters
    assert f"A request is sent at most {MAX_ATTEMPTS} times" in TEXT
    assert (
        f"An answer may take {parameters['timeout_s'].default:.0f} s and be {MAX_BODY_BYTES // 2**20} MiB long" in TEXT
    )
    assert f"The temperature is {parameters['temperature'].default:.0f} by default" in TEXT
