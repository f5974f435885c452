"""Every problem that a suite file can have, with its full message."""

from pathlib import Path

import pytest

from remote_evals.errors import SuiteError
from remote_evals.suites.loading import load_suites

CASE = "cases:\n- name: a\n  prompt: hi\n"
UNSET = "is not set; set it, or write"


def load_problems(folder: Path, name: str, text: str, *, needs_target: bool = False) -> list[str]:
    """Return the problems of a suite, without the folder and the name of the file."""
    path = folder / name
    path.write_text(text, "utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suites([str(path)], {}, needs_target=needs_target)
    return [problem.removeprefix(f"{path}:") for problem in caught.value.problems]


YAML: list[tuple[str, str, list[str]]] = [
    (
        "unknown key",
        CASE + "  max_stps: 3\n",
        ["4: cases[0].max_stps: unknown key 'max_stps'; did you mean 'max_steps'?"],
    ),
    (
        "unknown alias",
        CASE + "  must_contian: x\n",
        ["4: cases[0].must_contian: unknown key 'must_contian'; did you mean 'must_contain'?"],
    ),
    ("unknown key of the suite", "case: []\n" + CASE, ["1: case: unknown key 'case'; did you mean 'cases'?"]),
    (
        "unknown key far from any",
        "zzz: 1\n" + CASE,
        ["1: zzz: unknown key 'zzz'; valid are cases, defaults, judge, name, target"],
    ),
    (
        "unknown key of a tool",
        CASE + "  expect_tools:\n  - name: x\n    arg: 1\n",
        ["6: cases[0].expect_tools[0].arg: unknown key 'arg'; did you mean 'args'?"],
    ),
    (
        "unknown key of a turn",
        "cases:\n- name: a\n  turns:\n  - input: x\n    tag: y\n    max_step: 1\n",
        [
            "5: cases[0].turns[0].tag: unknown key 'tag'; valid are answer, approve, args, exact_tool_sequence,"
            " expect_tools, expected_output_contains, expected_output_matches, expected_output_not_contains,"
            " expected_tool_sequence, expected_tools, finish_reason, forbidden_tools, input, max_cost_usd,"
            " max_duration_ms, max_first_text_ms, max_iterations, max_steps, max_tokens, must_contain,"
            " must_not_contain, prompt, reject, soft, tool, tool_order, unknown_cost",
            "6: cases[0].turns[0].max_step: unknown key 'max_step'; did you mean 'max_steps'?",
        ],
    ),
    (
        "unknown key of soft checks",
        CASE + "  soft:\n    max_token: 3\n",
        ["5: cases[0].soft.max_token: unknown key 'max_token'; did you mean 'max_tokens'?"],
    ),
    (
        "unknown key of the target",
        "target:\n  urll: x\n" + CASE,
        ["2: target.urll: unknown key 'urll'; did you mean 'url'?"],
    ),
    (
        "braces in a key",
        CASE + "  '{max_steps}': 3\n",
        ["4: cases[0].{max_steps}: unknown key '{max_steps}'; did you mean 'max_steps'?"],
    ),
    ("both spellings", CASE + "  id: b\n", ["2: cases[0].name: 'name' and 'id' mean the same; keep one"]),
    (
        "both spellings, alias first",
        "cases:\n- input: x\n  name: a\n  prompt: hi\n",
        ["2: cases[0].input: 'input' and 'prompt' mean the same; keep one"],
    ),
    ("no name", "cases:\n- prompt: hi\n", ["2: cases[0].name: Field required"]),
    (
        "nothing to send",
        "cases:\n- name: a\n",
        ["2: cases[0]: a case needs either a prompt (or input) or turns, and not both"],
    ),
    ("no cases", "cases: []\n", ["1: cases: a suite without cases checks nothing"]),
    ("nothing", "", ["1: a suite is a mapping with `cases:`, or a list of cases, got null"]),
    ("a text", "hello\n", ['1: a suite is a mapping with `cases:`, or a list of cases, got "hello"']),
    (
        "not a number",
        CASE + "  max_steps: many\n",
        ['4: cases[0].max_steps: Input should be a valid integer, unable to parse string as an integer, got "many"'],
    ),
    (
        "not a duration",
        CASE + "  timeout: soon\n",
        ["4: cases[0].timeout: 'soon' is not a duration; write it as 500ms, 30s, 10m or a number of seconds"],
    ),
    (
        "not a regex",
        CASE + "  expected_output_matches: ['(']\n",
        [
            "4: cases[0].expected_output_matches[0]: '(' is not a regular expression: missing ),"
            " unterminated subpattern at position 0"
        ],
    ),
    (
        "not a choice",
        CASE + "  unknown_cost: skp\n",
        ["4: cases[0].unknown_cost: Input should be 'fail' or 'skip', got \"skp\""],
    ),
    (
        "exact about nothing",
        CASE + "  exact_tool_sequence: true\n",
        ["2: cases[0]: exact_tool_sequence also needs a tool_order (or expected_tool_sequence)"],
    ),
    (
        "soft end",
        CASE + "  soft:\n    finish_reason: stop\n",
        ["5: cases[0].soft.finish_reason: how a run ends cannot be soft; move it out of `soft`"],
    ),
    (
        "userinfo",
        "target:\n  url: https://u:pw@host\n" + CASE,
        ["2: target.url: https://host was given with a user name or password; remove it and give a token instead"],
    ),
    (
        "the same name",
        CASE + "- name: a\n  prompt: x\n",
        ["4: cases[1]: the name 'a' is already used by cases[0]"],
    ),
    (
        "unset variable",
        CASE + "  must_contain: ${NO}\n",
        [f"4: cases[0].must_contain: the variable NO {UNSET} ${{NO:-a default}}"],
    ),
    (
        "unset number",
        CASE + "  max_steps: ${NO}\n",
        [f"4: cases[0].max_steps: the variable NO {UNSET} ${{NO:-a default}}"],
    ),
    ("unset URL", "target: {url: '${NO}'}\n" + CASE, [f"1: target.url: the variable NO {UNSET} ${{NO:-a default}}"]),
    (
        "merged problem",
        "cases:\n- &b\n  name: a\n  prompt: x\n- <<: *b\n  name: c\n  prmpt: 1\n",
        ["7: cases[1].prmpt: unknown key 'prmpt'; did you mean 'prompt'?"],
    ),
]


@pytest.mark.parametrize(("text", "problems"), [row[1:] for row in YAML], ids=[row[0] for row in YAML])
def test_a_problem_is_reported_with_line_and_fix(text: str, problems: list[str], tmp_path: Path) -> None:
    """A problem is reported once: its line, its place, what was found, and what is valid or was probably meant."""
    assert load_problems(tmp_path, "a.eval.yaml", text) == problems


SEVERAL: list[tuple[str, str, list[str]]] = [
    ("a missing prompt beside an unknown key", "cases:\n- name: a\n  max_stps: 1\n", ["a prompt", "max_stps"]),
    ("the same name beside an unknown key", CASE + "  max_stps: 1\n- name: a\n  prompt: x\n", ["max_stps", "already"]),
    ("a soft end beside an unknown key", CASE + "  soft: {finish_reason: x, max_stps: 1}\n", ["soft", "max_stps"]),
    (
        "values of several kinds",
        CASE + "  max_steps: -1\n  tags: [1]\n  max_tokens: x\n",
        ["max_steps", "tags", "max_tokens"],
    ),
]


@pytest.mark.parametrize(("text", "parts"), [row[1:] for row in SEVERAL], ids=[row[0] for row in SEVERAL])
def test_one_problem_never_hides_another(text: str, parts: list[str], tmp_path: Path) -> None:
    """All problems of a file are reported at once."""
    problems = load_problems(tmp_path, "a.eval.yaml", text)
    assert [part for part in parts if any(part in problem for problem in problems)] == parts


@pytest.mark.parametrize("key", ["on", "1", "1.5", "~", "2026-01-31", "no"])
def test_a_key_that_yaml_does_not_take_for_text_is_reported_as_written(key: str, tmp_path: Path) -> None:
    """An unknown key such as `on`, which YAML reads as true, is reported with its line and shown as written."""
    (problem,) = load_problems(tmp_path, "a.eval.yaml", f"{CASE}  {key}: x\n")
    assert problem.startswith("4: cases[0]")
    assert key in problem


@pytest.mark.parametrize("text", ["cases: {2026-01-31: x}\n", "cases: {1: x}\n", "cases: {? [a] : x}\n", "{1: x}\n"])
def test_an_odd_key_never_breaks_the_loading(text: str, tmp_path: Path) -> None:
    """Keys that JSON cannot hold are reported as problems like any other."""
    assert load_problems(tmp_path, "a.eval.yaml", text)


def test_every_broken_line_of_jsonl_is_a_problem_of_its_own(tmp_path: Path) -> None:
    """Each line that is not JSON is reported with its place, and so are the problems in the other lines."""
    text = '{"name": "a", "prompt": "x"}\nnope\n\n{"name": }\n{"name": "b", "prmpt": "x", "prompt": "y"}\n5\n'
    starts = ["2: not JSON", "4: not JSON", "5: cases[1].prmpt: unknown key", "6: cases[2]: "]
    problems = load_problems(tmp_path, "a.eval.jsonl", text)
    assert [problem[: len(start)] for problem, start in zip(problems, starts, strict=True)] == starts


def test_a_lone_surrogate_is_reported_in_text_that_can_be_written(tmp_path: Path) -> None:
    """A suite with a lone surrogate is refused by messages that can be encoded."""
    problems = load_problems(tmp_path, "a.eval.json", '[{"name": "a\\ud83d", "prompt": "\\ud83d", "\\ud83d": 1}]')
    assert problems
    "\n".join(problems).encode("utf-8")


@pytest.mark.parametrize(
    ("target", "is_reported"), [("", True), ("target: {token_env: T}\n", True), ("target: {url: 'https://h'}\n", False)]
)
def test_a_suite_without_a_target_is_a_problem_where_one_is_needed(
    target: str, is_reported: bool, tmp_path: Path
) -> None:
    """If a target is needed, a suite without a URL is reported with the three ways to give one."""
    problems = load_problems(tmp_path, "a.eval.yaml", f"{target}{CASE}  bad: 1\n", needs_target=True)
    ways = ["`url:`", "--url", "REMOTE_EVALS_URL"]
    found = [problem for problem in problems if all(way in problem for way in ways)]
    assert len(found) == int(is_reported)


@pytest.mark.parametrize(
    "target",
    [
        "{headers: {X-Api-Key: 99887766554433}}",
        "{headers: ['Authorization: Bearer 99887766554433']}",
        "{token_env: [99887766554433]}",
        "'https://user:99887766554433@host'",
    ],
)
def test_what_may_be_a_credential_is_shown_by_its_kind(target: str, tmp_path: Path) -> None:
    """A problem with a token, a header or a URL shows the place and the kind of the value, never the value."""
    file = tmp_path / "s.eval.yaml"
    file.write_text(f"target: {target}\ncases: [{{name: a, prompt: x}}]\n", "utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suites([str(file)], {})
    assert "s.eval.yaml:1: target" in str(caught.value)
    assert "998877" not in str(caught.value)
