"""What an agent is asked in a check-up, and what its memory is checked by."""

import pytest

from remote_evals.doctor import MemoryProbe
from remote_evals.results import RunResult


def test_the_first_prompt_gives_a_number_and_the_second_asks_for_it() -> None:
    """The number is in the first prompt alone, and both say that they are a check and need no tools."""
    probe = MemoryProbe()
    assert probe.second is not None
    assert probe.number in probe.first
    assert probe.number not in probe.second
    assert all("automated check" in prompt and "no tools" in prompt for prompt in (probe.first, probe.second))


def test_every_check_up_has_a_number_of_its_own() -> None:
    """A deployment cannot know it from the check-up before."""
    assert len({MemoryProbe().number for _ in range(20)}) > 1


def test_a_prompt_of_ones_own_may_hold_the_number() -> None:
    """{number} stands for it, and other braces stay as they are."""
    probe = MemoryProbe('Say {"n": {number}}', number="482913")
    assert probe.first == 'Say {"n": 482913}'
    assert probe.second is not None


def test_a_prompt_without_a_number_has_no_second_turn() -> None:
    """Without a number there is nothing to ask for."""
    assert MemoryProbe("hi").second is None


@pytest.mark.parametrize("reply", ["482913", "It was 482 913.", "482,913", "482\u2019913!", "482.913", "**482913**"])
def test_a_reply_that_holds_the_number(reply: str) -> None:
    """People and models group digits in many ways."""
    assert MemoryProbe(number="482913").check_memory(RunResult(reply=reply)).status == "pass"


def test_a_reply_without_the_number_is_quoted() -> None:
    """The start of what it says instead is on the page."""
    found = MemoryProbe(number="482913").check_memory(RunResult(reply="I do not know. " * 20))
    assert found.status == "warn"
    assert found.happened.endswith("it says 'I do not know. I do not know. I do not know. I do not know. …'")
