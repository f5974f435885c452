"""The prompts that `doctor` sends, and how it checks the agent's memory."""

import pytest

from remote_evals.doctor import MemoryProbe
from remote_evals.results import RunResult


def test_the_first_prompt_gives_a_number_and_the_second_asks_for_it() -> None:
    """Only the first prompt has the number, and both say that they are a check and need no tools."""
    probe = MemoryProbe()
    assert probe.second is not None
    assert probe.number in probe.first
    assert probe.number not in probe.second
    assert all("automated check" in prompt and "no tools" in prompt for prompt in (probe.first, probe.second))


def test_every_check_up_has_a_number_of_its_own() -> None:
    """The number is random, so a deployment cannot know it from an earlier run."""
    assert len({MemoryProbe().number for _ in range(20)}) > 1


def test_a_prompt_of_ones_own_may_hold_the_number() -> None:
    """{number} in a given prompt is replaced by the number, and other braces are kept."""
    probe = MemoryProbe('Say {"n": {number}}', number="482913")
    assert probe.first == 'Say {"n": 482913}'
    assert probe.second is not None


def test_a_prompt_without_a_number_has_no_second_turn() -> None:
    """A given prompt without {number} has no second prompt."""
    assert MemoryProbe("hi").second is None


@pytest.mark.parametrize("reply", ["482913", "It was 482 913.", "482,913", "482\u2019913!", "482.913", "**482913**"])
def test_a_reply_that_holds_the_number(reply: str) -> None:
    """The number is recognised however its digits are grouped."""
    assert MemoryProbe(number="482913").check_memory(RunResult(reply=reply)).status == "pass"


def test_a_reply_without_the_number_is_quoted() -> None:
    """If the number is missing, the finding quotes the start of the reply."""
    found = MemoryProbe(number="482913").check_memory(RunResult(reply="I do not know. " * 20))
    assert found.status == "warn"
    assert found.happened.endswith("it says 'I do not know. I do not know. I do not know. I do not know. …'")
