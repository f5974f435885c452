"""What a judge is asked, and how its verdict counts."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from remote_evals import EvalCase, EvalContext, JudgeUnreachableError, JudgeUsage, RunResult, Verdict, at_least
from remote_evals.evals.context import Rubrics
from remote_evals.judging import make_judge
from tests.builders import FakeSession, run

USAGE = JudgeUsage(input_tokens=100, output_tokens=20, total_tokens=120, cost_usd=0.001, calls=1)


class RecordingGrader:
    """A grader that returns the given verdicts in order, and records what it was asked."""

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
    """A judge gets the rubric, the prompt, and the reply to it."""
    grader = RecordingGrader(verdict(0.9))
    t = context(grader)
    await t.send("Where is order 7?")
    assert await t.judge("Is polite.") == 0.9
    assert grader.questions == [("Is polite.", "Where is order 7?", "It has shipped.")]


async def test_the_judge_sees_the_turns_before() -> None:
    """In a conversation the judge also gets the earlier turns, since the last reply depends on them."""
    grader = RecordingGrader(verdict(0.9))
    t = context(grader, run(reply="Which one?"), run(reply="It has shipped."))
    await t.send("Where is my order?")
    await t.send("Number 7.")
    await t.judge("Is polite.")
    assert grader.questions == [
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
    """A rubric fails below its threshold, and if the judge itself says "not passed"; its score is the judge's."""
    t = context(RecordingGrader(given))
    await t.send("hi")
    await t.grade("Is polite.", threshold)
    [result] = t.assertions
    assert (result.key, result.passed, result.score, result.threshold) == ("rubric", passed, given.score, threshold)
    assert says in result.message
    assert t.judged_score == given.score


async def test_usage_of_several_gradings_adds_up() -> None:
    """The usage of all gradings of a case adds up, including those without a readable verdict."""
    t = context(RecordingGrader(verdict(0.9), verdict(0.1), "no idea"))
    await t.send("hi")
    for _ in range(3):
        await t.judge("Is polite.")
    assert t.judge_usage is not None
    assert (t.judge_usage.calls, t.judge_usage.total_tokens, t.judge_usage.cost_usd) == (3, 240, 0.002)


async def test_nothing_readable_is_a_failed_check_and_no_score() -> None:
    """An answer without a verdict fails `judge_unparseable`, quoting its start, and passes no check."""
    t = context(RecordingGrader("Well, it depends."))
    await t.send("hi")
    t.soft("polite", await t.judge("Is polite."), at_least(0.0))
    unparseable, polite = t.assertions
    assert (unparseable.key, unparseable.passed, unparseable.kind) == ("judge_unparseable", False, "gate")
    assert "It begins: Well, it depends." in unparseable.message
    assert (polite.passed, polite.skipped, polite.kind) == (False, False, "soft")
    assert t.judged_score is None


async def test_a_rubric_without_a_judge_fails() -> None:
    """If a judge is required and none is configured, that is a failed check that says what to set."""
    t = context(None)
    await t.send("hi")
    await t.grade("Is polite.", 0.5)
    [result] = t.assertions
    assert (result.key, result.passed) == ("rubric:no_judge_configured", False)
    assert "REMOTE_EVALS_JUDGE_URL" in result.message


async def test_a_rubric_that_nobody_asked_for_is_skipped() -> None:
    """Without --judge no judge is asked, and both ways of grading report that they were skipped."""
    grader = RecordingGrader()
    t = context(grader, is_asked=False)
    await t.send("hi")
    await t.grade("Is polite.", 0.5)
    t.check("polite", await t.judge("Is polite."), at_least(0.9))
    assert [(one.passed, one.skipped) for one in t.assertions] == [(True, True)] * 3
    assert all("only with --judge" in one.message for one in t.assertions)
    assert (grader.questions, t.judged_score, t.judge_usage) == ([], None, None)


async def test_a_judge_that_cannot_be_reached_is_raised() -> None:
    """If the judge cannot be reached, the grading raises: the case cannot be judged."""

    async def down(rubric: str, request: str, reply: str) -> float:
        raise JudgeUnreachableError("judge", "no connection", "Check that it is up")

    t = context(down)
    await t.send("hi")
    with pytest.raises(JudgeUnreachableError):
        await t.judge("Is polite.")
    assert t.assertions == []


async def test_a_judge_that_is_asked_before_anything_was_sent_says_so() -> None:
    """Before the first turn there is no reply to judge, so judging raises without asking the judge."""
    grader = RecordingGrader(verdict(0.9))
    t = context(grader)
    with pytest.raises(Exception, match="sent") as caught:
        await t.judge("Is polite.")
    assert not isinstance(caught.value, IndexError)
    assert grader.questions == []


async def test_a_broken_run_is_not_graded() -> None:
    """A case whose run did not end normally has already failed, and is not graded."""
    grader = RecordingGrader(verdict(0.9))
    t = context(grader, run(finish_reason="error"))
    await EvalCase(name="a", prompt="hi", rubric="Is polite.").run(t)
    assert [(one.name, one.passed) for one in t.assertions] == [("completed()", False)]
    assert grader.questions == []
