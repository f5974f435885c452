"""Marks of other scales: what a rubric or an answer says of its own scale, and what a number then means."""

import pytest

from remote_evals.judging import parse_verdict
from remote_evals.judging.function import make_judge
from remote_evals.judging.llm import build_messages
from remote_evals.judging.scales import Scale, find_scale, parse_scale

RUBRICS: dict[str, Scale | None] = {
    "Rate the reply from 1 to 5.": Scale(1, 5),
    "Score it on a scale of 1-10.": Scale(1, 10),
    "On a scale from 0 to 100, how polite is it?": Scale(0, 100),
    "Give 1\u20135 stars.": Scale(1, 5),
    "Grade the tone between 1 and 5.": Scale(1, 5),
    "A reply that is worth at least 4 out of 5.": Scale(1, 5),
    "It deserves 8/10 or more.": Scale(1, 10),
    "Points: 0..20": Scale(0, 20),
    "The reply names the carrier.": None,
    "Score from 0 to 1.": None,
    "It is on a scale of 0 to 1.": None,
    "It names 1 to 5 orders.": None,
    "It says that the parcel takes 2 to 4 days.": None,
    "It quotes 24/7 support.": None,
    "It mentions 3/4 of the price.": None,
    "The price fell from 10 to 5 EUR.": None,
}


@pytest.mark.parametrize("rubric", RUBRICS)
def test_the_scale_of_a_rubric(rubric: str) -> None:
    """A scale of marks is found in a rubric; other numbers in it are none."""
    assert find_scale(rubric) == RUBRICS[rubric]


OF_FIVE = Scale(1, 5)

# An answer to a rubric "from 1 to 5", and its score; None for one that may mean two things.
ANSWERS: dict[str, float | None] = {
    '{"score": 4}': 0.8,
    '{"score": 5}': 1.0,
    '{"score": 1}': None,
    '{"score": 0}': None,
    '{"score": 1, "passed": true}': 1.0,
    '{"score": 0, "passed": false}': 0.0,
    '{"score": 1, "passed": false}': None,
    '{"score": 0.8}': 0.8,
    '{"score": 1.0}': 1.0,
    '{"score": 3.5}': 0.7,
    '{"score": 6}': None,
    '{"score": 80}': None,
    '{"score": "4/5"}': 0.8,
    '{"score": "1"}': None,
    '{"score": "90%"}': 0.9,
    "Score: 4": 0.8,
    "Score: 1": None,
    "Score: 1/5": 0.2,
    "Score: 0.9": 0.9,
    "4": 0.8,
    "1": None,
    "1.0": 1.0,
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_mark_on_the_scale_of_its_rubric(answer: str) -> None:
    """A whole number is a mark on the rubric's scale, and no score where it may be the best mark of one from 0 to 1."""
    verdict = parse_verdict(answer, OF_FIVE)
    assert (verdict and verdict.score) == ANSWERS[answer]


STATED: dict[str, float | None] = {
    '{"score": 4, "scale": "1-5"}': 0.8,
    '{"score": 1, "scale": "1-5"}': 0.2,
    '{"score": 4, "max_score": 5}': 0.8,
    '{"score": 4, "max": 5}': 0.8,
    '{"score": 7, "out_of": 10}': 0.7,
    '{"score": 4, "scale": 5}': 0.8,
    '{"score": "4", "scale": "0 to 5"}': 0.8,
    '{"score": 8, "max_score": 5}': None,
    '{"score": 0.5, "scale": "0-1"}': 0.5,
    '{"score": 0.5, "scale": "linear"}': 0.5,
    '{"score": 8, "scale": null}': 0.8,
    "Score (1-5): 1": 0.2,
}


@pytest.mark.parametrize("scale", [None, Scale(1, 20)], ids=["no scale", "another scale"])
@pytest.mark.parametrize("answer", [one for one in STATED if "linear" not in one and "null" not in one])
def test_the_scale_that_an_answer_states(answer: str, scale: Scale | None) -> None:
    """A scale that the answer states is used, whatever the rubric says."""
    verdict = parse_verdict(answer, scale)
    assert (verdict and verdict.score) == STATED[answer]


@pytest.mark.parametrize("answer", STATED)
def test_what_states_no_scale_changes_nothing(answer: str) -> None:
    """A word beside the score that is no scale is passed over."""
    verdict = parse_verdict(answer)
    assert (verdict and verdict.score) == STATED[answer]


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        ("1-5", OF_FIVE),
        ("10", Scale(0, 10)),
        (5, Scale(0, 5)),
        (True, None),
        (0, None),
        (-1, None),
        ("none", None),
        ([], None),
    ],
)
def test_a_stated_scale(value: object, scale: Scale | None) -> None:
    """A number is the best mark, and of two numbers the larger."""
    assert parse_scale(value) == scale


def test_the_judge_is_told_to_divide() -> None:
    """A rubric with a scale of its own tells the judge how its marks become a score from 0 to 1, others do not."""
    asked = [
        build_messages(rubric, "q", "a", "n")[1]["content"] for rubric in ("Rate it from 1 to 5.", "Is it polite?")
    ]
    assert ["Divide the mark by 5" in text for text in asked] == [True, False]


async def test_a_callable_judge_marks_on_the_rubrics_scale_too() -> None:
    """What a callable returns as text or as a mapping is read by the scale of the rubric."""
    judge = make_judge(lambda rubric, request, reply: {"score": 4})
    assert (await judge.grade(rubric="Rate it from 1 to 5.", request="q", reply="a")).score == 0.8
    assert (await judge.grade(rubric="Is it polite?", request="q", reply="a")).score == 0.4
