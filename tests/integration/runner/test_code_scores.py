"""The classic form of an eval, `input` and `score`: how the score function is called, and what it may return."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from remote_evals import EvalResult, EvalRunner, RunResult, define_eval, make_target


def scored(score: Callable[..., Any]) -> EvalResult:
    agent = lambda prompt: {"reply": "Hello.", "steps": 3}  # noqa: E731 - too short for a function
    [result] = EvalRunner(agent=agent, timeout_s=10).run(define_eval(name="a", input="hi", score=score)).results
    return result


def test_a_score_function_does_not_block_other_cases() -> None:
    """A plain score function runs concurrently with other cases, and may wait for one of them."""
    go = threading.Event()

    def score(reply: str) -> bool:
        return go.wait(5)

    async def other(prompt: str) -> str:
        go.set()
        return "Hello."

    evals = [
        define_eval(name="slow", input="hi", score=score, target=make_target(lambda prompt: "Hello.")),
        define_eval(name="quick", input="hi", score=lambda reply: 1.0, target=make_target(other)),
    ]
    report = EvalRunner(concurrency=2, timeout_s=10).run(evals)
    assert [result.status for result in report.results] == ["passed", "passed"]


def _with_result(reply: str, result: RunResult) -> bool:
    return result.steps == 3


def _with_default(reply: str, least: int = 1) -> bool:
    return least == 1


def _with_options(reply: str, **options: Any) -> bool:
    return not options


def _with_keyword_default(reply: str, *, least: int = 1) -> bool:
    return least == 1


@pytest.mark.parametrize("score", [_with_result, _with_default, _with_options, _with_keyword_default, bool])
def test_a_score_function_gets_the_result_where_it_needs_it(score: Callable[..., Any]) -> None:
    """The run is passed only to a second parameter that is required: a default keeps its value."""
    result = scored(score)
    assert (result.status, result.error, result.score) == ("passed", None, 1.0)


@pytest.mark.parametrize("value", [None, 1.5, -0.1, float("nan"), "0.5", 80])
def test_an_invalid_score_is_reported(value: Any) -> None:
    """A score that is not from 0 to 1 is an error of its case, which shows what was returned."""
    result = scored(lambda reply: value)
    assert (result.status, result.error and result.error.code) == ("error", "EVAL_FAILED")
    assert result.error is not None
    assert f"must return a number from 0 to 1, or a bool, got {value!r}" in result.error.message
