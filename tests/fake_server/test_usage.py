"""The usage of steps and runs: given, estimated, added up, or left out."""

from tests.fake_server.wire_client import one, run_reply


def test_the_usage_of_a_run_is_the_sum_of_all_steps_and_subagents() -> None:
    """The usage of a run is the sum over all steps of all agents."""
    inner = {"name": "r", "steps": [{"text": "x", "usage": {"input": 5, "output": 1, "cost_usd": 0.2}}]}
    tool = {"name": "task", "subagent": inner}
    events = run_reply(
        {
            "steps": [
                {"tools": [tool], "usage": {"input": 10, "output": 2, "cost_usd": 0.1}},
                {"text": "y", "usage": {"input": 20, "output": 3, "estimated": True}},
            ]
        }
    )
    assert one(events, "run.done")["usage"] == {
        "promptTokens": 35,
        "completionTokens": 6,
        "totalTokens": 41,
        "inputTokens": 35,
        "outputTokens": 6,
        "estimated": True,
        "costUsd": 0.3,
        "modelCalls": 3,
    }


def test_a_step_without_usage_gets_an_estimate_without_a_cost() -> None:
    """A step without usage gets an estimate of its tokens and no cost."""
    usage = one(run_reply({"text": "x" * 9}, "y" * 8), "run.done")["usage"]
    assert (usage["inputTokens"], usage["outputTokens"], usage["estimated"]) == (2, 3, True)
    assert "costUsd" not in usage


def test_a_reply_can_name_the_usage_of_its_run() -> None:
    """The usage of a reply replaces the sum of its steps."""
    usage = one(run_reply({"text": "x", "usage": {"input": 7, "output": 1, "cost_usd": 0}}), "run.done")["usage"]
    assert (usage["inputTokens"], usage["costUsd"], usage["modelCalls"]) == (7, 0, 1)


def test_a_reply_can_name_its_model_calls() -> None:
    """A reply can give the number of its model calls."""
    assert one(run_reply({"text": "x", "usage": {"model_calls": 9}}), "run.done")["usage"]["modelCalls"] == 9


def test_usage_null_sends_no_usage_at_all() -> None:
    """A reply with `usage: null` sends no usage in any event."""
    assert not [event for event in run_reply({"text": "x", "usage": None}) if "usage" in event]


def test_usage_null_of_a_step_is_left_out_of_its_step_alone() -> None:
    """A step with `usage: null` sends no usage, and the other steps are counted."""
    events = run_reply({"steps": [{"text": "x", "usage": None}, {"text": "y", "usage": {"input": 3}}]})
    assert ["usage" in event for event in events if event["type"] == "step.done"] == [False, True]
    assert one(events, "run.done")["usage"]["inputTokens"] == 3
