"""The JSON Schema of a suite, and that it agrees with the loader."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from remote_evals.config.documents import load_document, parse_yaml
from remote_evals.errors import SuiteError
from remote_evals.suites.loading import load_suites
from remote_evals.suites.schema import make_suite_schema
from tests.serving.command import ROOT

SCHEMA = make_suite_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
VARIABLES = {"V": "5", "URL": "https://host", "YES": "true"}
CASE = "cases:\n- name: a\n  prompt: hi\n"
TURNS = "cases:\n- name: a\n  turns:\n  - prompt: hi\n"


def test_the_schema_is_valid() -> None:
    """The schema is valid under the draft that it names."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("model", SCHEMA["$defs"].values(), ids=SCHEMA["$defs"].keys())
def test_a_model_is_closed_and_described(model: dict[str, Any]) -> None:
    """Every model refuses unknown keys, and it and each of its keys have a description of one line."""
    assert model["additionalProperties"] is False
    described = [model, *model["properties"].values()]
    assert [part for part in described if not part.get("description", "").strip() or "\n" in part["description"]] == []


def test_an_alias_describes_its_key() -> None:
    """The description of an alias names its key and repeats the description of the key."""
    assert SCHEMA["$defs"]["EvalCase"]["properties"]["input"]["description"].startswith(
        "The same as `prompt`. The message"
    )


EXAMPLES = [
    *(ROOT / "examples").glob("*.eval.*"),
    ROOT / "remote_evals" / "suites" / "templates" / "suite.yaml",
]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_valid(path: Path) -> None:
    """Every example, and the suite that `init` writes, is valid under the schema."""
    VALIDATOR.validate(load_document(path).data)


RIGHT = {
    "a suite": CASE,
    "a list": "- {name: a, prompt: hi}\n- {id: b, input: hi}\n",
    "all of a suite": "name: s\ntarget: {url: https://x, token_env: T, headers: {A: b}}\ndefaults: {}\n" + CASE,
    "a URL of a variable": "target: {url: '${URL}'}\n" + CASE,
    "no URL": "target: {url: null}\n" + CASE,
    "aliases": "cases: [{id: a, input: x, expect_tools: t, must_contain: x, must_not_contain: y, max_iterations: 1}]",
    "a tool by name": CASE + "  expected_tools: lookup\n",
    "a tool in place of a list": CASE + "  expected_tools: {name: a, times: 1}\n",
    "tools": CASE + "  expected_tools: [a|b, {name: c, args: {x: [1]}, times: 0, subagent: s, outcome: error}]\n",
    "empty lists": CASE + "  expected_tools: []\n  tags: []\n  turns: []\n",
    "an order": CASE + "  tool_order: [a, b]\n  exact_tool_sequence: true\n",
    "an order by its alias": CASE + "  expected_tool_sequence: a\n  exact_tool_sequence: true\n",
    "no exact order": CASE + "  exact_tool_sequence: false\n",
    "an exact order by default": "defaults: {exact_tool_sequence: true}\n" + CASE,
    "limits": CASE + "  max_steps: 0\n  max_tokens: 9\n  max_cost_usd: 0.5\n  unknown_cost: skip\n",
    "limits of nothing": CASE + "  max_steps: null\n  max_cost_usd: null\n  timeout: null\n  soft: null\n",
    "a whole number with a point": CASE + "  max_steps: 3.0\n",
    "durations": CASE + "  max_duration_ms: 30s\n  max_first_text_ms: 1500\n  timeout: 1.5 m\n",
    "a duration of no unit": CASE + "  timeout: '30'\n  max_duration_ms: '500'\n",
    "variables": CASE + "  max_steps: '${V}'\n  max_cost_usd: '${V}'\n  timeout: '${V}s'\n  max_duration_ms: '${V}s'\n"
    "  unknown_cost: '${COST:-skip}'\n  tool_order: a\n  exact_tool_sequence: '${YES}'\n",
    "soft": CASE + "  soft: {max_steps: 3, must_contain: x}\n",
    "turns": TURNS + "    must_contain: x\n    finish_reason: error\n    soft: {forbidden_tools: x}\n",
    "decisions": TURNS + "  - {approve: all}\n  - {approve: true, tool: a, args: {x: 1}}\n  - {answer: x, tool: b}\n",
    "content parts": "cases: [{name: a, prompt: [{type: text, text: x}, {type: image, url: y}]}]",
    "turns and no prompt": TURNS + "  prompt: null\n",
    "metadata": CASE + "  metadata: {any: {thing: [1, null]}}\n  finish_reason: awaiting-approval\n",
}
WRONG = {
    "nothing": "",
    "text": "hello",
    "an empty list": "[]",
    "an empty suite": "cases: []",
    "no cases": "name: x",
    "cases of text": "cases: [hello]",
    "an unknown key": "case: []\n" + CASE,
    "an unknown key of a case": CASE + "  max_stps: 3\n",
    "an unknown key of a tool": CASE + "  expected_tools: [{name: a, arg: {}}]\n",
    "an unknown key of a turn": TURNS + "    tags: x\n",
    "an unknown key of the target": "target: {token: x}\n" + CASE,
    "a prompt by default": "defaults: {prompt: x}\n" + CASE,
    "no name": "cases: [{prompt: hi}]",
    "an empty name": "cases: [{name: '', prompt: hi}]",
    "an empty text": CASE + "  must_contain: ['']\n",
    "both names": CASE + "  id: b\n",
    "both prompts": CASE + "  input: x\n",
    "both prompts, one of nothing": "cases: [{name: a, prompt: null, input: x}]",
    "both spellings": CASE + "  max_steps: 1\n  max_iterations: 1\n",
    "nothing to send": "cases: [{name: a}]",
    "no turns": "cases: [{name: a, turns: []}]",
    "turns of null": CASE + "  turns: null\n",
    "prompt and turns": TURNS + "  prompt: x\n",
    "a turn without a prompt": "cases: [{name: a, turns: [{must_contain: x}]}]",
    "no content parts": "cases: [{name: a, prompt: []}]",
    "a part without a type": "cases: [{name: a, prompt: [{text: x}]}]",
    "a part of text without one": "cases: [{name: a, input: [{type: text}]}]",
    "a tool of a prompt": TURNS + "    tool: a\n",
    "arguments of a prompt": TURNS + "    args: {}\n",
    "arguments of a rejection": TURNS + "  - {reject: true, args: {}}\n",
    "a tool of all": TURNS + "  - {approve: all, tool: a}\n",
    "an exact order of nothing": CASE + "  exact_tool_sequence: true\n",
    "an exact order of no tools": CASE + "  exact_tool_sequence: true\n  tool_order: []\n",
    "an exact order of a turn": TURNS + "    exact_tool_sequence: true\n",
    "an exact order, softly": CASE + "  soft: {exact_tool_sequence: true}\n",
    "a soft finish": CASE + "  soft: {finish_reason: error}\n",
    "a tool without a name": CASE + "  expected_tools: [{args: {}}]\n",
    "an unknown outcome": CASE + "  expected_tools: [{name: a, outcome: maybe}]\n",
    "a text of a mapping": CASE + "  must_contain: {name: a}\n",
    "a negative limit": CASE + "  max_steps: -1\n",
    "a limit in words": CASE + "  max_steps: few\n",
    "a flag for a limit": CASE + "  max_cost_usd: true\n",
    "half a step": CASE + "  max_steps: 1.5\n",
    "a duration of days": CASE + "  timeout: 5 days\n",
    "a negative duration": CASE + "  timeout: -1\n",
    "an unknown cost": CASE + "  unknown_cost: ignore\n",
    "a tag of a number": CASE + "  tags: [1]\n",
    "a header of a number": "target: {headers: {A: 1}}\n" + CASE,
    "a URL of another kind": "target: {url: ftp://x}\n" + CASE,
    "a target of null": "target: null\n" + CASE,
    "metadata of text": CASE + "  metadata: x\n",
}
TABLE = [*((name, text, True) for name, text in RIGHT.items()), *((name, text, False) for name, text in WRONG.items())]


def loads(path: Path) -> bool:
    try:
        return bool(load_suites([str(path)], VARIABLES))
    except SuiteError:
        return False


@pytest.mark.parametrize(("name", "text", "is_right"), TABLE, ids=[name for name, _, _ in TABLE])
def test_schema_and_loader_agree(name: str, text: str, is_right: bool, tmp_path: Path) -> None:
    """The schema accepts what the loader accepts, and refuses what it refuses."""
    path = tmp_path / "a.eval.yaml"
    path.write_text(text)
    assert (loads(path), VALIDATOR.is_valid(parse_yaml(text).data)) == (is_right, is_right)
