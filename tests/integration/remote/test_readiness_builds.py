"""Whether the build that is up is the new one, by the headers of its health."""

import pytest

from remote_evals.errors import NotReadyError
from tests.serving.health import DOWN, EXPECTED, NEW, OLD, UP, deployed, status


async def test_a_new_build_is_one_that_answers_three_times_in_a_row() -> None:
    """While old and new answer in turns the wait goes on; each answer is asked for over a connection of its own."""
    async with deployed(DOWN, NEW, OLD, NEW, NEW, OLD, NEW) as deployment:
        await deployment.wait(expected=EXPECTED)
    assert len(deployment.asked) == 9
    quick = [pause == 0.05 for pause in deployment.pauses]
    assert quick == [False, True, False, True, True, False, True, True]


@pytest.mark.parametrize(
    ("answer", "happened"), [(OLD, "X-Version was '1.4.1', not '1.4.2'"), (UP, "X-Version was missing, not '1.4.2'")]
)
async def test_another_build_is_not_ready(answer: bytes, happened: str) -> None:
    """A 2xx with another value, or with none, is an old build: both are told, and what to look at."""
    async with deployed(answer, answer, NEW) as deployment:
        with pytest.raises(NotReadyError) as caught:
            await deployment.wait(0, EXPECTED)
        assert caught.value.happened.endswith(f"asked 1 time(s), the last time: {happened}")
        assert "the deploy is done and that its build sends this header" in caught.value.advice
        await deployment.wait(expected=EXPECTED)


async def test_every_expected_header_must_be_there() -> None:
    """Of several headers all must have their value."""
    both = status("200 OK", "", "x-version: 1.4.2", "x-region: eu")
    async with deployed(both) as deployment:
        await deployment.wait(0, {"x-version": "1.4.2", "X-REGION": "eu"})
        with pytest.raises(NotReadyError, match="X-Region was 'eu', not 'us'"):
            await deployment.wait(0, {"x-version": "1.4.2", "X-Region": "us"})


async def test_builds_in_turns_are_told() -> None:
    """Whoever ran out of time between two builds reads that the awaited one answered too."""
    async with deployed(NEW, NEW, OLD) as deployment:
        with pytest.raises(NotReadyError, match=r"not '1\.4\.2', though 2 answer\(s\) were as expected\. Check"):
            await deployment.wait(0, EXPECTED)
