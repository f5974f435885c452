"""What a judge is asked, and how its verdict counts."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from remote_evals import EvalCase, EvalContext, JudgeUnreachableError, JudgeUsage, RunResult, Verdict, at_least
from remote_evals.evals.context import Rubrics
from remote_evals.judging import make_judge
from tests.builders import FakeSession, run

USAGE = JudgeUsage(input_tokens=100, output_tokens=20, total_tokens=120, cost_usd=0.001, calls=1)


class Asked:
    """A grader that gives its verdicts in order, and keeps what it was asked."""

    def __init__(self, *verdicts: Any) -> None:
        self.questions: list[tuple[str, str, str]] = []
        self._verdicts = list(verdicts)

    async def __call__(self, rubric: str, request: str, reply: str) -> Any:
        self.questions.append((rubric, request, reply))
        return self._verdicts.pop(0)


def verdict(score: float, passed: bool | None = None, reason: str = "") -> Verdict:
    return Verdict(score=score, passed=passed, reason=reason, usage=USAGE)


def context(grader: Callable[..., Awaitable[Any]] | None, *answers: RunResult, is_asked: bool = True) -> EvalContext:
    rubrics = Rubrics(make_judge(grader) if grader else None, is_asked=is_asked)
    return EvalContext(FakeSession(*answers or [run(reply="It has shipped.")]), rubrics)


async def test_the_judge_sees_rubric_request_and_reply() -> None:
    """A judge is given the rubric, what was sent, and the reply to it."""
    asked = Asked(verdict(0.9))
    t = context(asked)
    await t.send("Where is order 7?")
    assert await t.judge("Is polite.") == 0.9
    assert asked.questions == [("Is polite.", "Where is order 7?", "It has shipped.")]


async def test_the_judge_sees_the_turns_before() -> None:
    """Of a conversation the judge is given the earlier turns too, since the last reply is to be read in their light."""
    asked = Asked(verdict(0.9))
    t = context(asked, run(reply="Which one?"), run(reply="It has shipped."))
    await t.send("Where is my order?")
    await t.send("Number 7.")
    await t.judge("Is polite.")
    assert asked.questions == [
        ("Is polite.", "User: Where is my order?\nAgent: Which one?\nUser: Number 7.", "It has shipped.")
    ]


@pytest.mark.parametrize(
    ("given", "threshold", "passed", "says"),
    [
        (verdict(0.7), 0.7, True, ""),
        (verdict(0.69), 0.7, False, "scored 0.69 of at least 0.70"),
        (verdict(0.9, passed=True), 0.5, True, ""),
        (verdict(0.9, passed=False, reason="Rude."), 0.5, False, "the judge's own verdict 'not passed': Rude."),
        (verdict(0.0), 0.0, True, ""),
    ],
)
async def test_a_rubric_needs_its_threshold_and_no_no(
    given: Verdict, threshold: float, passed: bool, says: str
) -> None:
    """A rubric fails below its threshold, and on a judge's own "not passed"; its score is that of the judge."""
    t = context(Asked(given))
    await t.send("hi")
    await t.grade("Is polite.", threshold)
    [result] = t.assertions
    assert (result.key, result.passed, result.score, result.threshold) == ("rubric", passed, given.score, threshold)
    assert says in result.message
    assert t.judged_score == given.score


async def test_usage_of_several_gradings_adds_up() -> None:
    """What a case's gradings use is one sum, those without a readable verdict included."""
    t = context(Asked(verdict(0.9), verdict(0.1), "no idea"))
    await t.send("hi")
    for _ in range(3):
        await t.judge("Is polite.")
    assert t.judge_usage is not None
    assert (t.judge_usage.calls, t.judge_usage.total_tokens, t.judge_usage.cost_usd) == (3, 240, 0.002)


async def test_nothing_readable_is_a_failed_check_and_no_score() -> None:
    """An answer without a verdict fails `judge_unparseable` with the start of what came, and passes no check."""
    t = context(Asked("Well, it depends."))
    await t.send("hi")
    t.soft("polite", await t.judge("Is polite."), at_least(0.0))
    unparseable, polite = t.assertions
    assert (unparseable.key, unparseable.passed, unparseable.kind) == ("judge_unparseable", False, "gate")
    assert "It begins: Well, it depends." in unparseable.message
    assert (polite.passed, polite.skipped, polite.kind) == (False, False, "soft")
    assert t.judged_score is None


async def test_a_rubric_without_a_judge_fails() -> None:
    """Where a judge was asked for and none is configured, that is a failed check which says what to set."""
    t = context(None)
    await t.send("hi")
    await t.grade("Is polite.", 0.5)
    [result] = t.assertions
    assert (result.key, result.passed) == ("rubric:no_judge_configured", False)
    assert "REMOTE_EVALS_JUDGE_URL" in result.message


async def test_a_rubric_that_nobody_asked_for_is_skipped() -> None:
    """Without --judge no judge is asked, and both ways of grading say that they were skipped."""
    asked = Asked()
    t = context(asked, is_asked=False)
    await t.send("hi")
    await t.grade("Is polite.", 0.5)
    t.check("polite", await t.judge("Is polite."), at_least(0.9))
    assert [(one.passed, one.skipped) for one in t.assertions] == [(True, True)] * 3
    assert all("only with --judge" in one.message for one in t.assertions)
    assert (asked.questions, t.judged_score, t.judge_usage) == ([], None, None)


async def test_a_judge_that_cannot_be_reached_is_raised() -> None:
    """Where no verdict can be had the grading raises: the case cannot be judged."""

    async def down(rubric: str, request: str, reply: str) -> float:
        raise JudgeUnreachableError("judge", "no connection", "Check that it is up")

    t = context(down)
    await t.send("hi")
    with pytest.raises(JudgeUnreachableError):
        await t.judge("Is polite.")
    assert t.assertions == []


async def test_a_judge_that_is_asked_before_anything_was_sent_says_so() -> None:
    """There is no reply to judge before the first turn, and no judge is paid to hear of it."""
    asked = Asked(verdict(0.9))
    t = context(asked)
    with pytest.raises(Exception, match="sent") as caught:
        await t.judge("Is polite.")
    assert not isinstance(caught.value, IndexError)
    assert asked.questions == []


async def test_a_broken_run_is_not_graded() -> None:
    """A case whose run did not come to its end has failed already, and costs no grading."""
    asked = Asked(verdict(0.9))
    t = context(asked, run(finish_reason="error"))
    await EvalCase(name="a", prompt="hi", rubric="Is polite.").run(t)
    assert [(one.name, one.passed) for one in t.assertions] == [("completed()", False)]
    assert asked.questions == []
