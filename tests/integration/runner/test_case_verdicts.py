"""Results of cases against a real deployment: turns, ends, costs, and assertions with invalid arguments."""

import json
from typing import Any

import pytest

from remote_evals import Eval, EvalCase, EvalContext, EvalResult, EvalRunner, RemoteTarget, render_json_report
from tests.serving.deployments import PATIENT, serve


async def judge(case: dict[str, Any], *replies: dict[str, Any]) -> tuple[EvalResult, list[dict[str, Any]]]:
    """Return the result of a case, and its assertions as in the JSON report."""
    parsed = EvalCase.model_validate({"name": "a", "prompt": None if "turns" in case else "hi"} | case)
    with serve(*replies) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun([Eval("a", parsed.run)])
    return report.results[0], json.loads(render_json_report(report))["results"][0]["assertions"]


PRICED = {"when": {"turn": 1}, "text": "x", "usage": {"input": 1, "output": 1, "cost_usd": 0.5}}


@pytest.mark.parametrize(("limit", "status"), [(0.1, "failed"), (1, "passed")], ids=["exceeded", "not known to be"])
async def test_an_unknown_cost_is_not_skipped_once_the_known_exceeds(limit: float, status: str) -> None:
    """If one turn has no price, `skip` still fails a case whose known cost already exceeds the limit."""
    case = {"turns": [{"prompt": "a"}, {"prompt": "b"}], "max_cost_usd": limit, "unknown_cost": "skip"}
    result, [shown, *_] = await judge(case, PRICED, {"text": "y"})
    assert (result.status, shown["skipped"]) == (status, status == "passed")
    assert ("got 0.5 US dollars, expected at most 0.1" in shown["message"]) == (status == "failed")
    assert "cost" in result.run.missing


async def test_a_failed_check_of_a_turn_names_its_turn() -> None:
    """A failed check of a turn names its turn in message and report; one of the whole case does not."""
    turns = [{"prompt": "a", "must_contain": "1"}, {"prompt": "b", "must_contain": "9", "soft": {"max_steps": 0}}]
    result, shown = await judge({"turns": turns, "must_contain": "8"}, {"text": "{{turn}}"})
    assert result.status == "failed"
    assert [(one["turn"], one["passed"], one["kind"]) for one in shown] == [
        (1, True, "gate"),
        (2, False, "gate"),
        (2, False, "soft"),
        (None, False, "gate"),
    ]
    assert shown[0]["message"] == ""
    assert shown[1]["message"] == "turn 2: output_contains('9') failed: the reply was \"2\""
    assert shown[2]["message"].startswith("turn 2: max_steps(0) failed")
    assert shown[3]["message"].startswith("output_contains('8') failed")


async def test_an_unexpected_normal_end_is_reported_without_contradiction() -> None:
    """If a run ends normally that should have paused, the message says what was expected and what was seen."""
    result, [shown, *_] = await judge({"finish_reason": "awaiting-approval"}, {"text": "Hello."})
    assert result.status == "failed"
    assert shown["message"] == (
        "finish_reason('awaiting-approval') failed: expected 'awaiting-approval', "
        "finish reason was 'stop' (the normal end)"
    )


async def test_an_assertion_with_invalid_arguments_is_a_failed_one() -> None:
    """Invalid arguments are a failed assertion that says so, not an error of the case, and the others still count."""

    async def wrong(t: EvalContext) -> None:
        anything: Any = t
        await t.send("hi")
        anything.max_steps("5")
        t.output_matches("(")
        anything.called_tool(7)
        anything.output_contains(None)
        anything.last_turn.max_tokens([])
        anything.softly.max_duration_ms("1s")
        t.output_contains("hello")

    with serve() as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=PATIENT)).arun([Eval("wrong", wrong)])
    [result] = report.results
    assert (result.status, result.error) == ("failed", None)
    assert [assertion.passed for assertion in result.assertions] == [False] * 6 + [True]
    assert [assertion.kind for assertion in result.assertions] == ["gate"] * 5 + ["soft", "gate"]
    assert all("invalid arguments" in assertion.message for assertion in result.assertions[:6])
    assert "max_steps failed" in result.assertions[0].message
    assert result.assertions[4].message.startswith("turn 1: max_tokens failed")
    json.loads(render_json_report(report))
