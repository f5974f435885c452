"""Any answer to a turn gives a run or an error of this package, within bounds, and never a false pass."""

from collections.abc import Callable, Collection, Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from remote_evals import Limits, RemoteError
from remote_evals.targets import stream_reader
from tests.serving.deployments import PATIENT
from tests.serving.leaks import assert_no_leak

from .answers import (
    Answer,
    answer_damaged,
    answer_hanging,
    answer_oddly,
    answer_whole,
    answer_with_any_head,
    answer_with_transcript,
    answer_wrongly,
)
from .bounds import assert_message_fit, assert_outcome_fit
from .client import FuzzClient, decide, open_client, read_transcript, take_turn
from .pieces import TOKEN
from .streams import make_random

pytestmark = pytest.mark.slow

# How many examples each test takes. Those that wait for a time limit request AT_ONCE answers in each example.
ONE_BY_ONE = {"stream": 1_000, "framing": 700, "head": 1_000, "decision": 300, "transcript": 300}
TOGETHER = {"damage": 24, "misframing": 8, "hanging": 8}
AT_ONCE = 50

# Shrinking is of no use: no seed is simpler than another.
PHASES_WITHOUT_SHRINKING = (Phase.reuse, Phase.generate)
SEEDS = st.integers(0, 2**32)
HURRIED = Limits(connect_s=20, headers_s=0.2, first_event_s=0.2, silence_s=0.2, turn_s=1)


def examples(number: int, phases: Collection[Phase] = tuple(Phase)) -> settings:
    """Return settings for this many random examples, new in every run; a failure prints how to reproduce it."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(
        max_examples=number,
        phases=phases,
        deadline=None,
        derandomize=False,
        print_blob=True,
        suppress_health_check=slow,
    )


def draw_answers(make: Callable[[Random], Answer]) -> st.SearchStrategy[Answer]:
    """Return a strategy that draws one answer and shrinks it if it fails."""
    return st.randoms(use_true_random=False).map(make)


def assert_all_fit(make: Callable[[Random], Answer], seed: int, client: FuzzClient) -> None:
    """Request many answers at once; the notes of a failure hold the answer that caused it."""
    answers = [make(make_random(f"{seed} {number}")) for number in range(AT_ONCE)]
    for outcome, answer in zip(client.ask(take_turn, *answers), answers, strict=True):
        assert_outcome_fit(outcome, answer)


@pytest.fixture(scope="module")
def patient() -> Iterator[FuzzClient]:
    with open_client(PATIENT) as client:
        yield client


@pytest.fixture(scope="module")
def hurried() -> Iterator[FuzzClient]:
    with pytest.MonkeyPatch.context() as patch, open_client(HURRIED) as client:
        patch.setattr(stream_reader, "MAX_END_S", 0.2)
        yield client


def test_enough_is_tried() -> None:
    """A whole run of the tests requests more than 5,000 answers."""
    assert sum(ONE_BY_ONE.values()) + AT_ONCE * sum(TOGETHER.values()) > 5_000


@examples(ONE_BY_ONE["stream"])
@given(answer=draw_answers(answer_whole))
def test_any_stream(answer: Answer, patient: FuzzClient) -> None:
    """A stream that arrives whole ends as its first `run.done` says, or is an error without one."""
    [outcome] = patient.ask(take_turn, answer)
    assert_outcome_fit(outcome, answer)


@examples(ONE_BY_ONE["framing"])
@given(answer=draw_answers(answer_oddly))
def test_any_framing(answer: Answer, patient: FuzzClient) -> None:
    """A stream that is cut, compressed or framed in an unusual way ends as the part that arrives says."""
    [outcome] = patient.ask(take_turn, answer)
    assert_outcome_fit(outcome, answer)


@examples(ONE_BY_ONE["head"])
@given(answer=draw_answers(answer_with_any_head))
def test_any_head(answer: Answer, patient: FuzzClient) -> None:
    """Any status line and headers give an outcome that can be reported."""
    [outcome] = patient.ask(take_turn, answer)
    assert_outcome_fit(outcome, answer)


@examples(ONE_BY_ONE["decision"])
@given(answer=draw_answers(answer_whole))
def test_any_answer_to_a_decision(answer: Answer, patient: FuzzClient) -> None:
    """An answer to a decision is held to the same rules as an answer to a prompt."""
    [outcome] = patient.ask(decide, answer)
    assert_outcome_fit(outcome, answer)


@examples(ONE_BY_ONE["transcript"])
@given(answer=draw_answers(answer_with_transcript) | draw_answers(answer_with_any_head))
def test_any_transcript(answer: Answer, patient: FuzzClient) -> None:
    """A transcript is a list of messages without the token, or an error."""
    [outcome] = patient.ask(read_transcript, answer)
    if isinstance(outcome, RemoteError):
        assert_message_fit(outcome)
    else:
        assert all(isinstance(message, dict) for message in outcome)
        assert_no_leak([("messages", repr(outcome))], TOKEN)


@examples(TOGETHER["damage"], PHASES_WITHOUT_SHRINKING)
@given(seed=SEEDS)
def test_any_damage(seed: int, hurried: FuzzClient) -> None:
    """An answer with some of its bytes changed, lost or doubled gives nothing that was not in it."""
    assert_all_fit(answer_damaged, seed, hurried)


@examples(TOGETHER["misframing"], PHASES_WITHOUT_SHRINKING)
@given(seed=SEEDS)
def test_any_misframing(seed: int, hurried: FuzzClient) -> None:
    """Wrong chunks, lengths and compressions end at once or by a time limit."""
    assert_all_fit(answer_wrongly, seed, hurried)


@examples(TOGETHER["hanging"], PHASES_WITHOUT_SHRINKING)
@given(seed=SEEDS)
def test_any_hanging(seed: int, hurried: FuzzClient) -> None:
    """An answer that stops anywhere while the connection stays open ends by a time limit."""
    assert_all_fit(answer_hanging, seed, hurried)
