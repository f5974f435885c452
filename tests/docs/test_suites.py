"""The page of cases as data: its keys are those of the models, and its suites pass."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
import yaml

from remote_evals import (
    EvalCase,
    EvalRunner,
    JudgeSettings,
    Suite,
    TargetOptions,
    TargetSettings,
    Turn,
    load_suites,
    make_evals,
    target_builder,
)
from remote_evals.config.deployments import judge_builder
from remote_evals.config.strict_model import StrictModel
from remote_evals.suites.discovery import FILE_ENDINGS, SUITE_ENDINGS
from remote_evals.suites.eval_case import DETAILS, CaseDefaults, SoftExpectations
from remote_evals.suites.expectations import Expectations, ExpectedTool
from remote_evals.suites.schema import make_suite_schema
from tests.docs.command_lines import COMMANDS, list_options
from tests.docs.example_agents import environment_of, serve_examples
from tests.docs.pages import (
    fenced_blocks,
    find_broken_links,
    find_code,
    find_long_lines,
    find_table,
    named_options,
    read,
)

PAGE = "remote_evals/suites/README.md"
CASE = {"name": "a", "prompt": "hi"}


class Keys(NamedTuple):
    """A table of keys: the model that reads them, without the keys of another table, and what a key is tried with."""

    model: type[StrictModel]
    base: dict[str, Any]
    shared: type[StrictModel] | None = None
    has_spellings: bool = False

    @property
    def fields(self) -> list[str]:
        """The keys that the table must have."""
        return [name for name in self.model.model_fields if not self.shared or name not in self.shared.model_fields]

    @property
    def spellings(self) -> dict[str, str]:
        """The other spellings that the table must have, by their key."""
        return {key: alias for alias, key in self.model.aliases.items() if key in self.fields}


TABLES = {
    "key of a suite": Keys(Suite, {"cases": [CASE]}),
    "key of `target`": Keys(TargetSettings, {}),
    "key of `judge`": Keys(JudgeSettings, {"url": "https://judge.test", "model": "m"}),
    "key of a case": Keys(EvalCase, CASE, shared=Expectations, has_spellings=True),
    "check": Keys(Expectations, {"tool_order": ["a"]}, has_spellings=True),
    "key of an expected tool": Keys(ExpectedTool, {"name": "a"}),
    "key of a turn": Keys(Turn, {"prompt": "hi"}, shared=Expectations, has_spellings=True),
}
# Of these a case or a turn has only one.
ACTIONS = {"prompt", "turns", "approve", "reject", "answer"}
EVERY_TABLE = pytest.mark.parametrize("title", TABLES)


def rows_of(title: str) -> list[tuple[str, str, Any, str]]:
    """Return key, other spelling, parsed example and meaning of each row of a table."""
    rows = []
    for row in find_table(PAGE, title).rows:
        key, *spelling, example, meaning = (cell.replace(r"\|", "|") for cell in row)
        rows.append((key.strip("`"), "".join(spelling).strip("`"), yaml.safe_load(example.strip("`")), meaning))
    return rows


def test_the_page_is_sound() -> None:
    """Its lines are short, its links lead somewhere, and the options that it names exist."""
    assert list(find_broken_links(PAGE)) == []
    assert find_long_lines(PAGE) == []
    assert named_options(read(PAGE)) <= {option for command in COMMANDS for option in list_options(command)}


@EVERY_TABLE
def test_the_keys_are_those_of_the_model(title: str) -> None:
    """Each table has every key of its model and every other spelling, and no more."""
    table, rows = TABLES[title], rows_of(title)
    assert sorted(key for key, *_ in rows) == sorted(table.fields)
    assert {key: spelling for key, spelling, *_ in rows if spelling} == table.spellings
    assert table.has_spellings or not table.spellings


def test_what_defaults_turns_and_soft_take_is_as_said() -> None:
    """`defaults` has the keys of a case but three, a turn has all checks, and `soft` has all but one."""
    assert EvalCase.model_fields.keys() - CaseDefaults.model_fields.keys() == {"name", "prompt", "turns"}
    assert Expectations.model_fields.keys() <= Turn.model_fields.keys() & CaseDefaults.model_fields.keys()
    assert SoftExpectations.model_fields.keys() == Expectations.model_fields.keys()
    with pytest.raises(ValueError, match="cannot be soft"):
        SoftExpectations.model_validate({"finish_reason": "length"})


@EVERY_TABLE
def test_the_examples_of_keys_can_be_written(title: str) -> None:
    """Each example is a valid value of its key, in either spelling."""
    table = TABLES[title]
    for key, spelling, example, _ in rows_of(title):
        kept = {name: value for name, value in table.base.items() if name != key and not {key, name} <= ACTIONS}
        # What says more about a decision needs one.
        kept = {"approve": True} if key in DETAILS and table.model is Turn else kept
        for written in filter(None, (key, spelling)):
            model = table.model.model_validate({**kept, written: example})
            assert key in model.model_fields_set
            assert getattr(model, key) not in (None, ())


@EVERY_TABLE
def test_the_required_keys_and_the_defaults_are_as_said(title: str) -> None:
    """A row says that its key is required, or names its default, exactly where that is so."""
    for key, _, _, meaning in rows_of(title):
        field = TABLES[title].model.model_fields[key]
        assert meaning.startswith("required: ") == field.is_required(), key
        if "` by default" in meaning:
            assert yaml.safe_load(find_code(meaning.partition(" by default")[0])[-1]) == field.default, key
        elif (title, key) != ("key of a suite", "name"):
            default = field.get_default(call_default_factory=True)
            assert field.is_required() or not default or default == type(default)(), key


def test_the_endings_are_as_said() -> None:
    """The names of suites and the endings of files are those that are looked for."""
    files = read(PAGE).partition("\n## Files\n")[2].partition("\n**YAML**")[0]
    spans = find_code(files)
    assert [f"*{ending}" for ending in SUITE_ENDINGS] == [span for span in spans if span.startswith("*.eval.")]
    assert list(FILE_ENDINGS) == [span for span in spans if span.startswith(".")]


SUITES = [(block, ending) for ending in ("yaml", "json", "jsonl") for block in fenced_blocks(PAGE, ending)]
EVERY_SUITE = pytest.mark.parametrize(("suite", "ending"), SUITES, ids=map(str, range(len(SUITES))))


@EVERY_SUITE
def test_the_suites_pass(suite: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each suite on the page passes as it stands against the agents of the examples, without a warning."""
    path = tmp_path / f"suite.eval.{ending}"
    path.write_text(suite, "utf-8")
    with serve_examples() as server:
        variables = environment_of(server)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        options = TargetOptions(url=server.url)
        evals = make_evals(load_suites([str(path)], variables), target_builder(options), judge_builder())
        report = EvalRunner().run(evals)
    assert report.pass_rate == 1.0, report.summary()
    assert report.protocol_warnings == 0


@EVERY_SUITE
def test_the_schema_accepts_the_suites(suite: str, ending: str) -> None:
    """The JSON Schema that the page tells of accepts each suite on it."""
    lines: list[Any] = [yaml.safe_load(line) for line in suite.splitlines()] if ending == "jsonl" else []
    jsonschema.validate(lines or yaml.safe_load(suite), make_suite_schema())


def test_the_variables_are_filled_in_as_said(tmp_path: Path) -> None:
    """A default replaces an empty variable too, a number may be a variable, and `$${` stays as `${`."""
    (block,) = (block for block in fenced_blocks(PAGE, "yaml") if "$${" in block)
    path = tmp_path / "suite.yaml"
    path.write_text(block, "utf-8")
    variables: Mapping[str, str] = {"AGENT_URL": "https://agent.test", "ORDER": "", "MAX_STEPS": "7"}
    (evals,) = load_suites([str(path)], variables)
    (case,) = evals.suite.cases  # type: ignore[union-attr]
    assert (case.prompt, case.max_steps) == ("Where is order 41?", 7)
    assert case.expected_output_not_contains == ("${ORDER}",)
