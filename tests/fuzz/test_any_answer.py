"""Whatever is sent in answer to a turn: it gives a run or an error of this package, within bounds, and never luck."""

from collections.abc import Callable, Collection, Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from remote_evals import Limits, RemoteError
from remote_evals.targets import stream_reader as _reading
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
from .asking import Asking, decide, open_asking, read_transcript, take_turn
from .bounds import assert_fit, assert_message_fit
from .pieces import TOKEN
from .streams import seeded

pytestmark = pytest.mark.slow

# How many examples each test takes. Those that wait for a clock are asked for so many at once, each an answer too.
ONE_BY_ONE = {"stream": 1_000, "framing": 700, "head": 1_000, "decision": 300, "transcript": 300}
TOGETHER = {"damage": 24, "misframing": 8, "hanging": 8}
AT_ONCE = 50

# No seed is simpler than another.
UNSHRUNK = (Phase.reuse, Phase.generate)
SEEDS = st.integers(0, 2**32)
HURRIED = Limits(connect_s=20, headers_s=0.2, first_event_s=0.2, silence_s=0.2, turn_s=1)


def examples(number: int, phases: Collection[Phase] = tuple(Phase)) -> settings:
    """Return settings for so many random examples, new ones in every run; a failure prints how to get it again."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(
        max_examples=number,
        phases=phases,
        deadline=None,
        derandomize=False,
        print_blob=True,
        suppress_health_check=slow,
    )


def answers_of(make: Callable[[Random], Answer]) -> st.SearchStrategy[Answer]:
    """Return what draws one answer, and shrinks it where it fails."""
    return st.randoms(use_true_random=False).map(make)


def assert_all_fit(make: Callable[[Random], Answer], seed: int, asking: Asking) -> None:
    """Ask for many answers at once; the one that is at fault stands in the notes of a failure."""
    answers = [make(seeded(f"{seed} {number}")) for number in range(AT_ONCE)]
    for outcome, answer in zip(asking.ask(take_turn, *answers), answers, strict=True):
        assert_fit(outcome, answer)


@pytest.fixture(scope="module")
def patient() -> Iterator[Asking]:
    with open_asking(PATIENT) as asking:
        yield asking


@pytest.fixture(scope="module")
def hurried() -> Iterator[Asking]:
    with pytest.MonkeyPatch.context() as patch, open_asking(HURRIED) as asking:
        patch.setattr(_reading, "MAX_END_S", 0.2)
        yield asking


def test_enough_is_tried() -> None:
    """A whole run of the tests asks for more than 5,000 answers."""
    assert sum(ONE_BY_ONE.values()) + AT_ONCE * sum(TOGETHER.values()) > 5_000


@examples(ONE_BY_ONE["stream"])
@given(answer=answers_of(answer_whole))
def test_any_stream(answer: Answer, patient: Asking) -> None:
    """A stream that arrives whole ends as its first `run.done` says, and is an error without one."""
    [outcome] = patient.ask(take_turn, answer)
    assert_fit(outcome, answer)


@examples(ONE_BY_ONE["framing"])
@given(answer=answers_of(answer_oddly))
def test_any_framing(answer: Answer, patient: Asking) -> None:
    """A stream that is cut, compressed or framed in an unusual way ends as that part of it says which arrives."""
    [outcome] = patient.ask(take_turn, answer)
    assert_fit(outcome, answer)


@examples(ONE_BY_ONE["head"])
@given(answer=answers_of(answer_with_any_head))
def test_any_head(answer: Answer, patient: Asking) -> None:
    """Any status line with any headers is an answer that can be told about."""
    [outcome] = patient.ask(take_turn, answer)
    assert_fit(outcome, answer)


@examples(ONE_BY_ONE["decision"])
@given(answer=answers_of(answer_whole))
def test_any_answer_to_a_decision(answer: Answer, patient: Asking) -> None:
    """What is sent in answer to a decision is held to the same as what is sent in answer to a prompt."""
    [outcome] = patient.ask(decide, answer)
    assert_fit(outcome, answer)


@examples(ONE_BY_ONE["transcript"])
@given(answer=answers_of(answer_with_transcript) | answers_of(answer_with_any_head))
def test_any_transcript(answer: Answer, patient: Asking) -> None:
    """A transcript is a list of messages without the token, or an error."""
    [outcome] = patient.ask(read_transcript, answer)
    if isinstance(outcome, RemoteError):
        assert_message_fit(outcome)
    else:
        assert all(isinstance(message, dict) for message in outcome)
        assert_no_leak([("messages", repr(outcome))], TOKEN)


@examples(TOGETHER["damage"], UNSHRUNK)
@given(seed=SEEDS)
def test_any_damage(seed: int, hurried: Asking) -> None:
    """An answer with any of its bytes changed, lost or doubled gives nothing that was not in it."""
    assert_all_fit(answer_damaged, seed, hurried)


@examples(TOGETHER["misframing"], UNSHRUNK)
@given(seed=SEEDS)
def test_any_misframing(seed: int, hurried: Asking) -> None:
    """Wrong chunks, lengths and compressions end, at once or by a clock."""
    assert_all_fit(answer_wrongly, seed, hurried)


@examples(TOGETHER["hanging"], UNSHRUNK)
@given(seed=SEEDS)
def test_any_hanging(seed: int, hurried: Asking) -> None:
    """An answer that stops anywhere while the connection stays open ends by a clock."""
    assert_all_fit(answer_hanging, seed, hurried)
