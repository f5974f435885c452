"""Verdicts, usage and errors of judges, as data."""

import pickle

import pytest
from pydantic import ValidationError

import remote_evals.judging
from remote_evals.errors import JudgeError, JudgeUnparseableError, JudgeUnreachableError, RemoteEvalsError
from remote_evals.judging import JudgeUsage, Verdict
from remote_evals.judging.base import make_unparseable_error, to_one_line

ERRORS: list[tuple[JudgeError, str]] = [
    (JudgeError("http://j", "the answer was 500", "Wait"), "JUDGE_FAILED"),
    (JudgeUnreachableError("http://j", "could not connect", "Wait"), "JUDGE_UNREACHABLE"),
    (JudgeUnparseableError("http://j", "no verdict", "Wait", "Hm.", JudgeUsage(calls=1)), "JUDGE_UNPARSEABLE"),
]


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=[code for _, code in ERRORS])
def test_a_judges_errors_have_codes_and_survive_another_process(error: JudgeError, code: str) -> None:
    """Each error has its code, says where, what and what to try, and can be pickled."""
    assert isinstance(error, RemoteEvalsError)
    assert error.code == code
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - pickled a moment ago
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert str(error).startswith(f"http://j: {error.happened}. Wait.")


def test_an_unparseable_answer_is_shown_from_its_start() -> None:
    """The start of an answer is quoted on one line of at most 300 printable characters."""
    error = make_unparseable_error("j", "Well,\n\tI\x00 think\ud83d " + "x" * 500, JudgeUsage())
    assert error.start.startswith("Well, I\ufffd think\ufffd xxx")
    assert (len(error.start), error.start[-1]) == (300, "…")
    assert str(error).endswith(f"It begins: {error.start}")


def test_an_empty_answer_says_that_tokens_ran_out() -> None:
    """An empty reply, and one that was cut off, say that a reasoning model probably ran out of tokens."""
    empty, cut = (
        make_unparseable_error("j", " \n", JudgeUsage()),
        make_unparseable_error("j", "Hm", JudgeUsage(), cut_off=True),
    )
    advice = "A reasoning model probably ran out of tokens: give it more, or use another model."
    assert str(empty) == f"j: the judge's reply is empty. {advice}"
    assert "was cut off at its token limit. A reasoning model probably ran out of tokens" in str(cut)


def test_one_line_reads_no_more_than_it_shows() -> None:
    """One line of a huge text is made from its start only."""
    assert to_one_line("a " * 1_000_000).startswith("a a a")


def test_usage_adds_up() -> None:
    """Tokens and calls add up; an unknown cost adds nothing, and two of them stay unknown."""
    one, other = JudgeUsage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=0.5, calls=1), JudgeUsage(calls=2)
    assert one + other == JudgeUsage(input_tokens=1, output_tokens=2, total_tokens=3, cost_usd=0.5, calls=3)
    assert (one + one).cost_usd == 1.0
    assert (other + other).cost_usd is None


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_verdict_has_a_score_from_0_to_1(score: float) -> None:
    """A verdict with a score out of range cannot be made."""
    with pytest.raises(ValidationError):
        Verdict(score=score)


def test_all_of_the_room_can_be_had() -> None:
    """`__all__` is sorted and complete, and an unknown name is an attribute error."""
    room = remote_evals.judging
    assert sorted(room._HOME_OF) == room.__all__ == sorted(room.__all__)
    assert all(getattr(room, name) for name in room.__all__)
    with pytest.raises(AttributeError, match="LLMJugde"):
        _ = room.LLMJugde
