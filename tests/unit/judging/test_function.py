"""A judge made from a callable."""

import asyncio
import threading
from typing import Any

import pytest

from remote_evals.errors import JudgeError, JudgeUnparseableError
from remote_evals.judging import CallableJudge, Judge, JudgeUsage, Verdict, make_judge
from remote_evals.judging.function import Grader


async def grade(function: Grader) -> Verdict:
    async with make_judge(function) as judge:
        return await judge.grade(rubric="r", request="q", reply="a")


def returning(value: Any) -> Grader:
    async def judge(rubric: str, request: str, reply: str) -> Any:
        return value

    return judge


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0.25, Verdict(score=0.25)),
        (1, Verdict(score=1)),
        (True, Verdict(score=1, passed=True)),
        (False, Verdict(score=0, passed=False)),
        ("SCORE: 8/10", Verdict(score=0.8, reason="SCORE: 8/10")),
        ({"score": 0.5, "passed": False, "reason": "x"}, Verdict(score=0.5, passed=False, reason="x")),
    ],
)
async def test_whatever_says_a_score_is_a_verdict(value: Any, verdict: Verdict) -> None:
    """A number, a bool, a text or a mapping becomes a verdict of one call."""
    assert await grade(returning(value)) == verdict.model_copy(update={"usage": JudgeUsage(calls=1)})


async def test_a_verdict_is_kept_as_it_is() -> None:
    """A verdict that a callable returns is kept, with its own usage."""
    verdict = Verdict(score=0.5, usage=JudgeUsage(total_tokens=7, calls=2))
    assert await grade(returning(verdict)) is verdict


@pytest.mark.parametrize(
    "value", [None, 1.01, -0.1, 8, float("nan"), float("inf"), "", "great!", {}, {"score": 111}, [1], b"1"]
)
async def test_what_says_no_score_is_unparseable(value: Any) -> None:
    """Any other value is no verdict, and the error names the judge."""
    with pytest.raises(JudgeUnparseableError) as caught:
        await grade(returning(value))
    assert str(caught.value).startswith("judge 'judge': ")
    assert caught.value.usage == JudgeUsage(calls=1)


async def test_rubric_request_and_reply_are_given_in_this_order() -> None:
    """The callable gets the rubric, the request and the reply, in this order."""
    seen: list[tuple[str, ...]] = []

    def judge(*texts: str) -> float:
        seen.append(texts)
        return 1.0

    await grade(judge)
    assert seen == [("r", "q", "a")]


async def test_a_sync_callable_does_not_hold_up_the_others() -> None:
    """A callable that blocks runs in a thread, so that the event loop goes on."""
    go = threading.Event()

    def judge(*_: str) -> float:
        return float(go.wait(timeout=10))

    grading = asyncio.create_task(grade(judge))
    await asyncio.sleep(0)
    go.set()
    assert (await grading).score == 1.0


async def test_a_callable_that_raises_is_a_failed_judge() -> None:
    """An exception of the callable becomes a `JudgeError` with it as its cause."""

    def judge(*_: str) -> float:
        raise ZeroDivisionError("by\nzero")

    with pytest.raises(JudgeError, match=r"judge 'judge': raised ZeroDivisionError: by zero. The reply") as caught:
        await grade(judge)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


async def test_a_judges_own_error_passes() -> None:
    """A `JudgeError` that a callable raises is passed on unchanged."""
    error = JudgeError("j", "is down", "Wait")

    def judge(*_: str) -> float:
        raise error

    with pytest.raises(JudgeError) as caught:
        await grade(judge)
    assert caught.value is error


def test_a_judge_is_told_from_a_callable() -> None:
    """A judge is kept as it is; a callable object is named after its class."""

    class Grumpy:
        def __call__(self, *_: str) -> float:
            return 0.0

    judge = CallableJudge(returning(1))
    assert isinstance(judge, Judge)
    assert make_judge(judge) is judge
    assert make_judge(Grumpy()).description == "judge 'Grumpy'"


@pytest.mark.parametrize("offset", [200, 270, 280, 290, 299, 300, 400])
@pytest.mark.parametrize("way", ["raised", "returned", "object"])
async def test_no_half_of_a_word_is_quoted(way: str, offset: int) -> None:
    """A quote is cut between words, since half a word may be half a secret, which no redactor knows."""
    secret = "Aq1zXs2wDe3cVf4rBg5tNh6yMj7u"
    text = f"{'x ' * (offset // 2)}{secret} and more, and more, and more"

    async def judge(rubric: str, request: str, reply: str) -> Any:
        if way == "raised":
            raise LookupError(text)
        return text if way == "returned" else [text]

    with pytest.raises(JudgeError) as caught:
        await grade(judge)
    shown = str(caught.value).replace(secret, "")
    assert secret[:4] not in shown
