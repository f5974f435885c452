"""A script file is read strictly, and its mistakes are told with line, place and likely fix."""

from pathlib import Path

import pytest

from fake_server import ScriptError, load_script, parse_script


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(ScriptError) as caught:
        parse_script(text, "x.yaml")
    return caught.value.problems


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("agent: helper\nreplies:\n- text: hí\n", "utf-8")
    script = load_script(path)
    assert (script.agent, script.replies[0].text) == ("helper", "hí")


def test_scalars_are_read_as_yaml_1_2() -> None:
    values = "{day: 2026-01-31, answer: yes, at: 12:30, id: 007, n: 1, f: 1.5, e: 1e3, b: true, x: null, v: }"
    [reply] = parse_script(f"replies:\n- object: {values}").replies
    assert reply.object == {
        "day": "2026-01-31",
        "answer": "yes",
        "at": "12:30",
        "id": "007",
        "n": 1,
        "f": 1.5,
        "e": 1000.0,
        "b": True,
        "x": None,
        "v": None,
    }


@pytest.mark.parametrize(("text", "seconds"), [("50ms", 0.05), ("1.5s", 1.5), ("2 m", 120.0), ("0", 0.0)])
def test_durations_have_a_unit(text: str, seconds: float) -> None:
    assert parse_script(f"replies:\n- delay: {text}").replies[0].delay == seconds


def test_a_fault_that_is_empty_is_none() -> None:
    assert parse_script("replies:\n- text: hi\n  fault:\n").replies[0].fault == []


def test_a_question_may_use_the_name_of_the_wire() -> None:
    script = parse_script(
        "replies:\n- steps:\n  - tools:\n    - {name: q, question: {text: who, allowFreeText: false}}"
    )
    question = script.replies[0].steps[0].tools[0].question
    assert question
    assert question.allow_free_text is False


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("replies:\n- txt: hi", "x.yaml:2: replies[0]: unknown key 'txt'. Did you mean 'text'?"),
        ("tokn: x\nreplies:\n- text: hi", "x.yaml:1: unknown key 'tokn'. Did you mean 'token'?"),
        (
            "replies:\n- steps:\n  - text: a\n    tool: []",
            "x.yaml:4: replies[0].steps[0]: unknown key 'tool'. Did you mean 'tools'?",
        ),
        (
            "replies:\n- when: {color: 1}",
            "x.yaml:2: replies[0].when: unknown key 'color'. Valid: input, matches, turn",
        ),
        (
            "replies:\n- steps:\n  - tools:\n    - {name: t, subagent: {nam: r, name: s}}",
            "x.yaml:4: replies[0].steps[0].tools[0].subagent: unknown key 'nam'. Did you mean 'name'?",
        ),
        ("replies:\n- text: 42", "x.yaml:2: replies[0].text: should be text, got 42: put it in quotes"),
        ("replies:\n- hello", "x.yaml:2: replies[0]: should be a mapping of keys to values, got 'hello'"),
        ("replies: hello", "x.yaml:1: replies: should be a list, with one '- ' line per item, got 'hello'"),
        ("replies: []", "x.yaml:1: replies: should have at least one item, got []"),
        ("agent: x", "x.yaml:1: replies: is missing"),
        ("replies:\n- steps:\n  - tools: [{args: {}}]", "x.yaml:3: replies[0].steps[0].tools[0].name: is missing"),
        (
            "replies:\n- delay: 5",
            "x.yaml:2: replies[0].delay: should be a duration such as 50ms, 1.5s or 2m, got 5",
        ),
        (
            "replies:\n- when: {matches: '('}",
            "x.yaml:2: replies[0].when.matches: Input should be a valid regular expression, got '('",
        ),
        (
            "replies:\n- steps:\n  - tools: [{name: t, result: 1, error: {name: E}}]",
            "x.yaml:3: replies[0].steps[0].tools[0]: a tool call has either 'result' or 'error', not both",
        ),
        (
            "replies:\n- steps:\n  - tools: [{name: t, approval: true, question: {text: q}}]",
            "x.yaml:3: replies[0].steps[0].tools[0]: a tool call has either 'approval' or 'question', not both",
        ),
        (
            "replies:\n- steps:\n  - tools: [{name: t, args: [1]}]",
            "x.yaml:3: replies[0].steps[0].tools[0].args: should be a mapping of keys to values, got [1]",
        ),
        (
            "replies:\n- events: [{kind: x}]",
            "x.yaml:2: replies[0].events[0]: an event needs a 'type', such as type: provider.retry",
        ),
        ("replies:\n- object: !!binary aGk=", "x.yaml:2: replies[0].object: should be JSON: Object of type bytes"),
        ("base_path: api\nreplies:\n- text: x", "x.yaml:1: base_path: should be a path such as /api/agent, got 'api'"),
        (
            "replies:\n- text: x\n  fault: cutt",
            "x.yaml:3: replies[0].fault[0]: unknown fault 'cutt'. Did you mean 'cut'?",
        ),
        (
            "replies:\n- text: x\n  fault: xyz",
            "x.yaml:3: replies[0].fault[0]: unknown fault 'xyz'. Valid: buffered, byte-at-a-time, compressed,",
        ),
        (
            "fault: {name: cut, location: /x}\nreplies:\n- text: x",
            "x.yaml:1: fault[0]: fault 'cut' takes no 'location', only after, before_headers, request, times",
        ),
        (
            "replies:\n- text: x\n  fault:\n    name: cut\n    aftr: 1",
            "x.yaml:5: replies[0].fault[0]: unknown key 'aftr'. Did you mean 'after'?",
        ),
        (
            "health: {header: {a: b}}\nreplies:\n- text: x",
            "x.yaml:1: health[0]: unknown key 'header'. Did you mean 'headers'?",
        ),
        (
            "replies:\n- text: x\nhealth:\n- times: 2\n- fault: seq-gap",
            "x.yaml:5: health[1].fault: fault 'seq-gap' is only for runs. Valid here: buffered,",
        ),
        (
            "replies:\n- text: x\nhealth: {fault: {name: cut, request: chat}}",
            "x.yaml:3: health[0].fault: fault 'cut' takes no 'request' here: only the faults of runs do",
        ),
        ("replies:\n- text: x\n  text: y", "x.yaml:3: duplicate key 'text'"),
        ("replies: [", "x.yaml:1: is not valid YAML: "),
        ("replies: \x07", "x.yaml: is not valid YAML: unacceptable character #x0007"),
        ("hello", "x.yaml: should be a mapping with the key 'replies', got 'hello'"),
        ("", "x.yaml: should be a mapping with the key 'replies', got None"),
    ],
)
def test_a_mistake_is_told_with_line_place_and_fix(text: str, problem: str) -> None:
    [told] = problems(text)
    assert told.startswith(problem)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    told = problems("tokn: x\nreplies:\n- txt: hi\n- delay: 5\n- turn: 1\n")
    assert [line.split(": ")[0] for line in told] == ["x.yaml:1", "x.yaml:3", "x.yaml:4", "x.yaml:5"]


def test_the_error_prints_a_line_for_every_problem() -> None:
    error = ScriptError(["a: one", "b: two"])
    assert str(error) == "a: one\nb: two"


def test_a_long_value_is_told_in_short() -> None:
    [told] = problems(f"replies: {'x' * 500}")
    assert len(told) < 150


def test_a_file_that_is_not_there_is_a_script_error(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"nowhere\.yaml: cannot be read: No such file"):
        load_script(tmp_path / "nowhere.yaml")


def test_a_file_that_is_not_utf_8_is_a_script_error(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"agent: \xff")
    with pytest.raises(ScriptError, match="is not UTF-8 text: invalid start byte at byte 7"):
        load_script(path)


def test_a_mapping_that_holds_itself_is_a_script_error() -> None:
    assert problems("replies:\n- &a\n  object: *a\n")
