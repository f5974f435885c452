"""The findings on a turn's run."""

from typing import Any

import pytest

from remote_evals.doctor.turn_checks import check_cost, check_end, check_order, check_usage
from remote_evals.results import RunError, RunResult, ToolCall, Usage


def run(**fields: Any) -> RunResult:
    return RunResult(**{"reply": "noted", "finish_reason": "stop", **fields})


def test_a_stream_without_oddities() -> None:
    """A run without protocol warnings passes."""
    assert check_order(run()).status == "pass"


def test_the_first_oddities_are_told_and_the_others_counted() -> None:
    """The first three warnings are shown and the rest counted; the values hold all."""
    found = check_order(run(warnings=("a", "b", "c", "d", "e")))
    assert (found.status, found.happened) == ("warn", "a; b; c; and 2 more")
    assert found.values["warnings"] == ["a", "b", "c", "d", "e"]


def test_a_normal_end() -> None:
    """A run that ended with 'stop' passes."""
    found = check_end(run())
    assert (found.status, found.happened) == ("pass", "finish reason was 'stop'")


def test_another_end_fails_with_its_error() -> None:
    """A run with another finish reason fails, with the reason."""
    found = check_end(run(finish_reason="error", error=RunError(name="ModelError", message="no key")))
    assert (found.status, found.happened) == (
        "fail",
        "finish reason was 'error' (the run failed: ModelError: no key)",
    )
    assert "logs" in found.advice


def test_tools_that_nobody_asked_for_are_a_warning() -> None:
    """Tool calls for a prompt that needs none are a warning, which names each tool once."""
    calls = tuple(ToolCall(id=str(number), name=f"tool{number // 2}") for number in range(16))
    found = check_end(run(tool_calls=calls))
    assert found.status == "warn"
    assert found.happened == "finish reason was 'stop', but the agent called tool0, tool1, tool2, tool3, tool4"
    assert "--prompt" in found.advice


def test_an_empty_reply_is_a_warning() -> None:
    """An empty reply is a warning, because assertions have nothing to check."""
    assert check_end(run(reply=" \n")).status == "warn"


@pytest.mark.parametrize(("estimated", "end"), [(False, ""), (True, ", which the deployment estimates")])
def test_usage_is_told(estimated: bool, end: str) -> None:
    """The finding gives the token counts, and says whether they are estimated."""
    usage = Usage(input_tokens=31, output_tokens=2, total_tokens=33, estimated=estimated)
    found = check_usage(run(usage=usage))
    assert (found.status, found.happened) == ("pass", f"31 tokens in, 2 out{end}")


def test_no_usage_is_a_warning() -> None:
    """Missing usage is a warning, because `max_tokens` cannot be checked."""
    found = check_usage(run())
    assert (found.status, found.happened) == ("warn", "run.done has no usage")
    assert "max_tokens" in found.advice


def test_a_cost_is_told() -> None:
    """The finding gives the cost, even if it is zero."""
    usage = Usage(input_tokens=31, output_tokens=2, total_tokens=33, cost_usd=0)
    assert check_cost(run(usage=usage)).happened == "$0.000000"


@pytest.mark.parametrize("usage", [None, Usage(input_tokens=31, output_tokens=2, total_tokens=33)])
def test_an_unknown_cost_is_a_warning(usage: Usage | None) -> None:
    """An unknown cost is a warning rather than zero."""
    found = check_cost(run(usage=usage))
    assert found.status == "warn"
    assert "unknown_cost: skip" in found.advice
