"""What each key of a case accepts, and which assertions it makes."""

from typing import Any

import pytest
from pydantic import ValidationError

from remote_evals.results import RunResult, Timing
from remote_evals.suites.eval_case import CaseDefaults, EvalCase, Turn
from tests.builders import call, outcomes, run, shown, usage

ALIASES = [
    ("name", "id", "a case"),
    ("prompt", "input", "hi"),
    ("expected_tools", "expect_tools", ["a"]),
    ("tool_order", "expected_tool_sequence", ["a", "b"]),
    ("expected_output_contains", "must_contain", ["a"]),
    ("expected_output_not_contains", "must_not_contain", ["a"]),
    ("max_steps", "max_iterations", 3),
]

ANSWER = run(
    call("a", {"x": 1}),
    call("b"),
    reply="Order 42 shipped",
    steps=2,
    usage=usage(100, 0.5),
    timing=Timing(total_ms=900, first_text_ms=200),
)

KEYS: list[tuple[str, dict[str, Any], list[tuple[str, bool]]]] = [
    ("expected_tools", {"expected_tools": ["a", "c"]}, [("called_tool('a')", True), ("called_tool('c')", False)]),
    ("either tool", {"expected_tools": ["c|b"]}, [("called_tool('c|b')", True)]),
    ("a single tool", {"expected_tools": "a"}, [("called_tool('a')", True)]),
    ("args", {"expected_tools": [{"name": "a", "args": {"x": 2}}]}, [("called_tool('a', args={\"x\": 2})", False)]),
    ("times", {"expected_tools": [{"name": "a", "times": 1}]}, [("called_tool('a', times=1)", True)]),
    ("subagent", {"expected_tools": [{"name": "a", "subagent": "s"}]}, [("called_tool('a', subagent=\"s\")", False)]),
    ("outcome", {"expected_tools": [{"name": "a", "outcome": "ok"}]}, [("called_tool('a', outcome=\"ok\")", True)]),
    (
        "forbidden_tools",
        {"forbidden_tools": ["a", "c"]},
        [("not_called_tool('a')", False), ("not_called_tool('c')", True)],
    ),
    ("tool_order", {"tool_order": ["b", "a"]}, [("tool_order(['b', 'a'])", False)]),
    (
        "exact_tool_sequence",
        {"tool_order": ["a"], "exact_tool_sequence": True},
        [("tool_order(['a'], exact=true)", False)],
    ),
    (
        "expected_output_contains",
        {"expected_output_contains": ["SHIPPED", "lost"]},
        [("output_contains('SHIPPED')", True), ("output_contains('lost')", False)],
    ),
    (
        "expected_output_not_contains",
        {"expected_output_not_contains": "ORDER"},
        [("output_not_contains('ORDER')", False)],
    ),
    ("expected_output_matches", {"expected_output_matches": r"r \d"}, [(r"output_matches('r \\d')", True)]),
    ("max_steps", {"max_steps": 1}, [("max_steps(1)", False)]),
    ("max_tokens", {"max_tokens": 100}, [("max_tokens(100)", True)]),
    ("max_cost_usd", {"max_cost_usd": 0.4}, [("max_cost_usd(0.4)", False)]),
    ("max_duration_ms", {"max_duration_ms": 900}, [("max_duration_ms(900)", True)]),
    ("max_first_text_ms", {"max_first_text_ms": 100}, [("max_first_text_ms(100)", False)]),
    ("finish_reason", {"finish_reason": "stop"}, [("completed()", True)]),
    ("nothing", {}, [("completed()", True)]),
    ("a limit of zero", {"max_steps": 0}, [("max_steps(0)", False)]),
]


@pytest.mark.parametrize(("keys", "expected"), [row[1:] for row in KEYS], ids=[row[0] for row in KEYS])
async def test_each_key_makes_one_assertion_per_item(keys: dict[str, Any], expected: list[tuple[str, bool]]) -> None:
    """Only what is set is checked, one assertion per item; a case without checks expects a normal end."""
    assert shown(await outcomes(keys, ANSWER)) == expected


@pytest.mark.parametrize(("name", "alias", "value"), ALIASES, ids=[alias for _, alias, _ in ALIASES])
def test_an_alias_means_the_same(name: str, alias: str, value: Any) -> None:
    """Both spellings of a key give the same case, and using both is refused by a message that names them."""
    basis = {"name": "a case", "prompt": "hi"}
    basis.pop(name, None)
    by_name, by_alias = ({**basis, key: value} for key in (name, alias))
    assert EvalCase.model_validate(by_name) == EvalCase.model_validate(by_alias)
    with pytest.raises(ValidationError, match=rf"'{name}' and '{alias}' mean the same; keep one"):
        EvalCase.model_validate({**by_name, alias: value})


def test_names_and_texts_may_be_given_alone() -> None:
    """Where a list is expected, a single text becomes a list of one."""
    case = EvalCase.model_validate({"name": "a", "prompt": "hi", "tags": "smoke", "forbidden_tools": "x"})
    assert (case.tags, case.forbidden_tools) == (("smoke",), ("x",))


@pytest.mark.parametrize(
    ("value", "milliseconds"),
    [(500, 500), ("500", 500), ("500.5", 500.5), ("1.5s", 1500), ("250ms", 250), ("2m", 120_000)],
)
def test_a_bare_number_of_milliseconds_is_milliseconds(value: Any, milliseconds: float) -> None:
    """A limit in milliseconds accepts a duration, and a bare number, quoted or not, is in milliseconds."""
    case = EvalCase.model_validate({"name": "a", "prompt": "hi", "max_duration_ms": value})
    assert case.max_duration_ms == milliseconds


@pytest.mark.parametrize(("value", "seconds"), [(30, 30.0), ("30s", 30.0), ("500ms", 0.5), ("10m", 600.0)])
def test_a_timeout_is_in_seconds(value: Any, seconds: float) -> None:
    """The timeout of a case accepts a duration, and a bare number is in seconds."""
    assert EvalCase.model_validate({"name": "a", "prompt": "hi", "timeout": value}).timeout == seconds


@pytest.mark.parametrize(
    "answer",
    [run(finish_reason="max-steps"), run(finish_reason=None), run(finish_reason="error")],
    ids=lambda r: str(r.finish_reason),
)
async def test_an_abnormal_end_fails_the_case(answer: RunResult) -> None:
    """A run that does not end normally fails the case, once, even if every other check passes."""
    assert shown(await outcomes({"max_steps": 9}, answer)) == [("completed()", False), ("max_steps(9)", True)]
    assert shown(await outcomes({}, answer)) == [("completed()", False)]


async def test_an_end_that_was_asked_for_is_right() -> None:
    """With `finish_reason`, a case passes on that end, where absence counts, and fails on a normal end."""
    case = {"finish_reason": "length", "forbidden_tools": ["refund"]}
    results = await outcomes(case, run(finish_reason="length"))
    assert shown(results) == [("finish_reason('length')", True), ("not_called_tool('refund')", True)]
    assert shown(await outcomes(case, run())) == [
        ("finish_reason('length')", False),
        ("not_called_tool('refund')", False),
    ]


async def test_a_soft_check_is_soft() -> None:
    """The keys under `soft` make the same assertions, after the others, and are recorded as soft."""
    results = await outcomes({"max_steps": 9, "soft": {"must_contain": "x", "max_iterations": 9}}, run(reply="y"))
    assert [(one.name, one.kind, one.passed) for one in results] == [
        ("max_steps(9)", "gate", True),
        ("output_contains('x')", "soft", False),
        ("max_steps(9)", "soft", True),
    ]


def test_an_end_cannot_be_soft() -> None:
    """`finish_reason` is refused under `soft`, since it decides whether the run can be judged."""
    with pytest.raises(ValidationError, match="how a run ends cannot be soft"):
        EvalCase.model_validate({"name": "a", "prompt": "hi", "soft": {"finish_reason": "length"}})


async def test_an_unknown_cost_is_handled_as_the_case_says() -> None:
    """A run without a cost fails `max_cost_usd`, or is skipped with `unknown_cost: skip`."""
    unpriced = run(usage=usage(1, None), missing=("cost",))
    (failed,) = await outcomes({"max_cost_usd": 1}, unpriced)
    (skipped,) = await outcomes({"max_cost_usd": 1, "unknown_cost": "skip"}, unpriced)
    assert (failed.passed, skipped.passed, skipped.skipped) == (False, True, True)


@pytest.mark.parametrize("key", ["max_steps", "max_tokens", "max_cost_usd", "max_duration_ms", "timeout"])
@pytest.mark.parametrize("value", [True, "many", -1, float("nan"), [], {}], ids=repr)
def test_a_limit_that_is_no_number_is_refused(key: str, value: Any) -> None:
    """Booleans, texts, negative numbers, NaN and containers are refused as limits."""
    with pytest.raises(ValidationError):
        EvalCase.model_validate({"name": "a", "prompt": "hi", key: value})


def test_a_turn_has_no_name() -> None:
    """A turn refuses keys that only a whole case has."""
    with pytest.raises(ValidationError, match="unknown key 'name'"):
        Turn.model_validate({"prompt": "hi", "name": "a"})


def test_defaults_fill_in_what_a_case_does_not_set() -> None:
    """The keys of a case override the defaults, even with null; tags and metadata are combined."""
    defaults = CaseDefaults.model_validate(
        {"max_iterations": 5, "max_tokens": 9, "max_cost_usd": 1, "tags": ["a", "b"], "metadata": {"x": 1, "y": 1}}
    )
    case = {
        "name": "a",
        "prompt": "hi",
        "max_tokens": 3,
        "max_cost_usd": None,
        "tags": ["b", "c"],
        "metadata": {"y": 2},
    }
    whole = EvalCase.model_validate(case).with_defaults(defaults)
    assert (whole.max_steps, whole.max_tokens, whole.max_cost_usd) == (5, 3, None)
    assert (whole.tags, whole.metadata) == (("a", "b", "c"), {"x": 1, "y": 2})
