"""A script is read strictly, and its problems are reported with line, path and likely fix."""

from pathlib import Path

import pytest

from fake_server import ScriptError, load_script, parse_script


def problems(text: str) -> tuple[str, ...]:
    """Return the problems of a script that cannot be served."""
    with pytest.raises(ScriptError) as caught:
        parse_script(text, "x.yaml")
    return caught.value.problems


def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    """A script is read from a UTF-8 file."""
    path = tmp_path / "x.yaml"
    path.write_text("agent: helper\nreplies:\n- text: hí\n", "utf-8")
    script = load_script(path)
    assert (script.agent, script.replies[0].text) == ("helper", "hí")


def test_scalars_are_read_as_yaml_1_2() -> None:
    """Dates, times, `yes` and numbers with leading zeros are text, as in YAML 1.2."""
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
    """A duration has a unit, unless it is 0."""
    assert parse_script(f"replies:\n- delay: {text}").replies[0].delay == seconds


def test_a_fault_that_is_empty_is_none() -> None:
    """An empty `fault` key means no fault."""
    assert parse_script("replies:\n- text: hi\n  fault:\n").replies[0].fault == []


def test_a_question_may_use_the_name_of_the_wire() -> None:
    """A question may be written with the key of the wire, allowFreeText."""
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
    """A problem is one line with the line number, the path, what is wrong and the likely fix."""
    [line] = problems(text)
    assert line.startswith(problem)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    """All problems are reported at once, in the order of the file."""
    found = problems("tokn: x\nreplies:\n- txt: hi\n- delay: 5\n- turn: 1\n")
    assert [line.split(": ")[0] for line in found] == ["x.yaml:1", "x.yaml:3", "x.yaml:4", "x.yaml:5"]


def test_the_error_prints_a_line_for_every_problem() -> None:
    """The text of the error has one line per problem."""
    error = ScriptError(["a: one", "b: two"])
    assert str(error) == "a: one\nb: two"


def test_a_long_value_is_told_in_short() -> None:
    """A long value is shortened in the message."""
    [line] = problems(f"replies: {'x' * 500}")
    assert len(line) < 150


def test_a_file_that_is_not_there_is_a_script_error(tmp_path: Path) -> None:
    """A file that does not exist is a `ScriptError`."""
    with pytest.raises(ScriptError, match=r"nowhere\.yaml: cannot be read: No such file"):
        load_script(tmp_path / "nowhere.yaml")


def test_a_file_that_is_not_utf_8_is_a_script_error(tmp_path: Path) -> None:
    """A file that is not UTF-8 is a `ScriptError` with the position of the first wrong byte."""
    path = tmp_path / "x.yaml"
    path.write_bytes(b"agent: \xff")
    with pytest.raises(ScriptError, match="is not UTF-8 text: invalid start byte at byte 7"):
        load_script(path)


def test_a_mapping_that_holds_itself_is_a_script_error() -> None:
    """A mapping that contains itself is a `ScriptError` and no endless loop."""
    assert problems("replies:\n- &a\n  object: *a\n")
