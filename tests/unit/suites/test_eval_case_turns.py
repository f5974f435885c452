"""How a case runs a conversation, and what the checks of its turns see."""

from typing import Any

import pytest
from pydantic import ValidationError

from remote_evals.evals.context import EvalContext
from remote_evals.results import AssertionResult, RunResult
from remote_evals.suites.eval_case import EvalCase
from tests.builders import FakeSession, call, run, shown, usage


async def converse(case: dict[str, Any], *answers: RunResult) -> tuple[list[AssertionResult], list[str]]:
    session = FakeSession(*answers)
    t = EvalContext(session)
    await EvalCase.model_validate({"name": "a case", **case}).run(t)
    return t.assertions, session.prompts


def turns(*keys: dict[str, Any], **case: Any) -> dict[str, Any]:
    return {"turns": [{"prompt": str(number), **own} for number, own in enumerate(keys, start=1)], **case}


async def test_turns_are_sent_in_order() -> None:
    """The prompts of a conversation are sent in order."""
    _, prompts = await converse(turns({}, {}, {}), run(), run(), run())
    assert prompts == ["1", "2", "3"]


async def test_a_turns_checks_see_that_turn_alone() -> None:
    """The checks of a turn see its own reply and calls, not those of another turn."""
    case = turns({"must_contain": "one", "expect_tools": ["a"]}, {"must_contain": "two", "forbidden_tools": ["a"]})
    results, _ = await converse(case, run(call("a"), reply="one"), run(reply="two"))
    assert all(result.passed for result in results)
    assert len(results) == 4


async def test_the_cases_checks_see_the_last_reply_and_everything_else() -> None:
    """The checks of a case see the last reply, and the calls, steps and tokens of all turns."""
    case = turns({}, {}, tool_order=["a", "b"], max_steps=3, max_tokens=20, must_contain="one")
    results, _ = await converse(case, run(call("a"), reply="one", usage=usage(10)), run(call("b"), usage=usage(10)))
    assert shown(results) == [
        ("tool_order(['a', 'b'])", True),
        ("output_contains('one')", False),
        ("max_steps(3)", False),
        ("max_tokens(20)", True),
    ]


async def test_a_soft_check_of_a_turn_is_soft() -> None:
    """The checks under `soft` of a turn are recorded as soft."""
    results, _ = await converse(turns({"soft": {"must_contain": "x"}}, {}), run(), run())
    assert [(one.name, one.kind) for one in results] == [("output_contains('x')", "soft")]


async def test_a_broken_turn_ends_the_conversation() -> None:
    """After a turn that does not end normally, nothing more is sent, the case fails, and its checks are still made."""
    results, prompts = await converse(turns({}, {}, must_contain="x"), run(reply="x", finish_reason="error"), run())
    assert prompts == ["1"]
    assert shown(results) == [("completed()", False), ("output_contains('x')", True)]


async def test_a_turn_may_have_another_expected_end() -> None:
    """A turn that ends with its own `finish_reason` passes, and the conversation goes on."""
    case = turns({"finish_reason": "length"}, {})
    results, prompts = await converse(case, run(finish_reason="length"), run())
    assert (prompts, shown(results)) == (["1", "2"], [("finish_reason('length')", True)])


async def test_a_turn_without_its_expected_end_ends_the_conversation() -> None:
    """A turn that ends normally instead of with its `finish_reason` fails, and nothing more is sent."""
    results, prompts = await converse(turns({"finish_reason": "length"}, {}), run(), run())
    assert (prompts, shown(results)) == (["1"], [("finish_reason('length')", False)])


@pytest.mark.parametrize("keys", [{"forbidden_tools": ["refund"]}, {"must_not_contain": ["sorry"]}], ids=str)
async def test_absence_counts_in_a_conversation_that_ended_as_expected(keys: dict[str, Any]) -> None:
    """If each turn ended as expected, checks for absence pass on the conversation."""
    case = turns({"finish_reason": "length"}, {}, **keys)
    results, _ = await converse(case, run(finish_reason="length"), run())
    assert [result.passed for result in results] == [True, True]


async def test_the_cases_end_is_that_of_its_last_turn() -> None:
    """The `finish_reason` of a case applies to its last turn; the turns before must end normally."""
    case = turns({}, {}, finish_reason="length")
    results, _ = await converse(case, run(), run(finish_reason="length"))
    assert shown(results) == [("finish_reason('length')", True)]
    results, prompts = await converse(case, run(finish_reason="length"), run())
    assert (prompts, shown(results)[0]) == (["1"], ("completed()", False))


@pytest.mark.parametrize("case", [{}, {"turns": []}, {"prompt": "hi", "turns": [{"prompt": "hi"}]}], ids=str)
def test_a_case_has_a_prompt_or_turns(case: dict[str, Any]) -> None:
    """A case with neither a prompt nor turns, or with both, is refused."""
    with pytest.raises(ValidationError, match="either a prompt"):
        EvalCase.model_validate({"name": "a", **case})
