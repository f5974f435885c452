"""What `define_eval` returns, and what it rejects."""

from collections.abc import Callable
from typing import Any

import pytest

from remote_evals import EvalContext, UsageError, define_eval, make_target
from remote_evals.evals.context import EvalContext as Context
from tests.builders import FakeSession, run


async def hello(t: EvalContext, case: Any = None) -> None:
    """Do nothing."""


def names(*cases: Any) -> list[str]:
    return [eval_.name for eval_ in define_eval(name="orders", cases=cases)(hello).make_evals()]


def test_an_eval_without_cases_is_one_eval() -> None:
    """A test without cases is one eval of that name, which knows its file."""
    [eval_] = define_eval(name="orders", tags=["smoke"], timeout="30s", repeat=3, pass_at=2)(hello).make_evals()
    assert (eval_.name, eval_.suite, eval_.file) == ("orders", "orders", __file__)
    assert (eval_.tags, eval_.timeout_s, eval_.repeat, eval_.pass_at) == (("smoke",), 30.0, 3, 2)


def test_a_definition_knows_its_place() -> None:
    """The file and line of a definition are those of the `define_eval`."""
    definition = define_eval(name="orders")(hello)
    line = test_a_definition_knows_its_place.__code__.co_firstlineno + 2
    assert definition.place_in(definition.file) == f"{__file__}:{line}"


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ({"input": "Where?", "label": "by label", "name": "by name"}, "orders / by label"),
        ({"input": "Where?", "name": "by name"}, "orders / by name"),
        ({"input": "Where is\n  order 7?"}, "orders / Where is order 7?"),
        ({"input": "x" * 200}, f"orders / {'x' * 50}…{'x' * 29}"),
    ],
)
def test_a_case_is_named_by_label_name_or_input(case: dict[str, str], name: str) -> None:
    """A case is named by its label, else its name, else its input on one line of at most 80 characters."""
    assert names(case) == [name]


def test_a_cases_tags_add_to_the_evals() -> None:
    """A case has the tags of its eval and its own tags, each once."""
    [eval_] = define_eval(name="a", tags=["x", "y"], cases=[{"input": "i", "tags": ["y", "z"]}])(hello).make_evals()
    assert eval_.tags == ("x", "y", "z")


def test_one_tag_may_be_a_text() -> None:
    """A tag given as a string is one tag, as in a suite, not one tag per letter."""
    [eval_] = define_eval(name="a", tags="smoke", cases=[{"input": "i", "tags": "fast"}])(hello).make_evals()
    assert eval_.tags == ("smoke", "fast")


async def test_each_eval_gets_its_own_case() -> None:
    """A test is called with `t` and the case of the eval that runs."""
    seen: list[Any] = []

    async def keep(t: EvalContext, case: Any) -> None:
        seen.append(case["input"])

    for eval_ in define_eval(name="a", cases=({"input": text} for text in "ab"))(keep).make_evals():
        await eval_.run(Context(FakeSession()))
    assert seen == ["a", "b"]


def test_a_target_comes_before_an_agent() -> None:
    """If a definition has both a target and an agent, the target is used."""
    target = make_target(str)
    [eval_] = define_eval(name="a", agent=repr, target=target)(hello).make_evals()
    assert eval_.target is target


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "define_eval needs a name"),
        ({"name": "a", "input": "hi"}, r"define_eval\(name='a'\): input and score belong together"),
        ({"name": "a", "score": len}, r"define_eval\(name='a'\): input and score belong together"),
        ({"name": "a", "repeat": 0}, "repeat must be at least 1, got 0"),
        ({"name": "a", "repeat": 2, "pass_at": 0}, "pass_at must be at least 1, got 0"),
        ({"name": "a", "repeat": 2, "pass_at": 3}, r"pass_at 3 can never be reached by 2 run\(s\)"),
        ({"name": "a", "pass_at": 2}, r"pass_at 2 can never be reached by 1 run\(s\)"),
        (
            {"name": "a", "cases": [{"input": "i"}, {"input": "i"}]},
            "two cases are named 'i'; give each its own `label`",
        ),
        ({"name": "a", "cases": [{"order": 7}]}, "a case needs a `label`, a `name` or an `input`"),
        ({"name": "a", "cases": ["hi"]}, "a case is a mapping, got 'hi'"),
    ],
)
def test_a_definition_that_cannot_work_is_a_usage_error(arguments: dict[str, Any], message: str) -> None:
    """A definition that can never work is rejected where it is made, with a message that says how to fix it."""
    with pytest.raises(UsageError, match=message):
        define_eval(**arguments)(hello)


@pytest.mark.parametrize("timeout", ["soon", "-3s", -1])
def test_an_invalid_timeout_is_refused(timeout: Any) -> None:
    """A time limit that is not a duration is rejected where it is defined."""
    with pytest.raises(UsageError, match=r"timeout: .* is not a duration"):
        define_eval(name="a", timeout=timeout)(hello)


def _by_reply(reply: str) -> float:
    return 0.8 if reply == "right" else 0.2


def _by_result(reply: str, result: Any) -> bool:
    return bool(result.steps == 2)


async def _awaited(reply: str) -> float:
    return 0.8


@pytest.mark.parametrize(
    ("score", "threshold", "passed", "scored"),
    [
        (_by_reply, 0.8, True, 0.8),
        (_by_reply, 0.9, False, 0.8),
        (_by_result, 0.5, True, 1.0),
        (_awaited, 0.8, True, 0.8),
    ],
)
async def test_the_classic_form_is_one_scored_assertion(
    score: Callable[..., Any], threshold: float, passed: bool, scored: float
) -> None:
    """With input and score, an eval is one assertion, which passes if the returned score reaches the threshold."""
    session = FakeSession(run(reply="right"))
    t = EvalContext(session)
    [eval_] = define_eval(name="a", input="hi", score=score, threshold=threshold).make_evals()
    await eval_.run(t)
    [result] = t.assertions
    assert session.prompts == ["hi"]
    assert (result.name, result.passed, result.score, result.threshold) == ("score", passed, scored, threshold)


async def test_the_classic_form_scores_no_broken_run() -> None:
    """A run that did not end normally is not scored: it failed."""
    t = EvalContext(FakeSession(run(finish_reason="error")))
    [eval_] = define_eval(name="a", input="hi", score=len).make_evals()
    await eval_.run(t)
    assert [(one.name, one.passed) for one in t.assertions] == [("completed()", False)]


async def _without_case(t: EvalContext) -> None:
    """Do nothing."""


async def _with_case(t: EvalContext, case: Any) -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    ("test", "cases", "message"),
    [
        (_without_case, [{"input": "i"}], r"it has cases, so its test must be _without_case\(t, case\)"),
        (_with_case, [], r"it has no cases, so its test must be _with_case\(t\)"),
        (lambda: None, [], r"it has no cases, so its test must be <lambda>\(t\)"),
    ],
    ids=["no case", "a case too many", "no t"],
)
def test_a_test_that_could_not_be_called_is_refused(test: Any, cases: list[Any], message: str) -> None:
    """A test with unsuitable parameters is rejected where it is defined, and the message says what they must be."""
    with pytest.raises(UsageError, match=rf"define_eval\(name='a'\): {message}"):
        define_eval(name="a", cases=cases)(test)
