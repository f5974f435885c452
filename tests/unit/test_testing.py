"""The agent that gives scripted answers."""

import pytest

from remote_evals import EvalContext, EvalRunner, RunResult, define_eval
from remote_evals.testing import scripted_agent


def test_it_answers_with_its_turns_in_order() -> None:
    """A scripted agent gives its turns in order, whatever the prompts, and each session starts with the first."""
    make = scripted_agent(["one", {"reply": "two"}, RunResult(reply="three", finish_reason="stop")])
    first, second = make(), make()
    assert [first("a"), first("b")] == ["one", {"reply": "two"}]
    assert second("c") == "one"


def test_it_says_that_it_has_no_more_turns() -> None:
    """After its last turn a scripted agent raises an error with the number of turns and the prompt."""
    agent = scripted_agent(["one"])()
    agent("hi")
    with pytest.raises(IndexError, match=r"only 1 turn\(s\), and was asked 'more'"):
        agent("more")


def test_an_eval_runs_against_it() -> None:
    """An eval of two turns passes against a scripted agent in each of its cases."""

    @define_eval(name="a", agent=scripted_agent(["one", "two"]), cases=[{"input": "x"}, {"input": "y"}])
    async def test(t: EvalContext, case: dict[str, str]) -> None:
        await t.send(case["input"])
        t.output_contains("one")
        await t.send("more")
        t.output_contains("two")

    report = EvalRunner().run(test)
    assert [result.passed for result in report.results] == [True, True]


def test_an_eval_that_asks_too_often_fails() -> None:
    """A prompt beyond the last turn gives a run that ended with "error"."""

    @define_eval(name="a", agent=scripted_agent([]))
    async def test(t: EvalContext) -> None:
        await t.send("hi")
        t.completed()

    [result] = EvalRunner().run(test).results
    assert (result.status, result.run.finish_reason) == ("failed", "error")
    assert result.run.error is not None
    assert result.run.error.name == "IndexError"
