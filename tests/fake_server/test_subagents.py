"""Calls that delegate to a sub-agent."""

from tests.fake_server.wire_client import brief, one, run_reply

RESEARCHER = {
    "name": "researcher",
    "description": "finds",
    "steps": [{"tools": [{"name": "search"}]}, {"text": "Found."}],
}


def test_a_subagent_counts_its_own_steps_and_calls_inside_the_call_that_started_it() -> None:
    """The events of a sub-agent stand inside the call that started it, with steps and call ids of its own."""
    events = run_reply({"steps": [{"tools": [{"name": "task", "subagent": RESEARCHER}]}, {"text": "done"}]})
    assert brief(events) == [
        "run.start",
        "step.start 1",
        "tool.start call_1",
        "researcher step.start 1",
        "researcher tool.start call_1",
        "researcher tool.done call_1",
        "researcher step.done 1 tool_calls",
        "researcher step.start 2",
        "researcher text.delta",
        "researcher text.done",
        "researcher step.done 2 stop",
        "tool.done call_1",
        "step.done 1 tool_calls",
        "step.start 2",
        "text.delta",
        "text.done",
        "step.done 2 stop",
        "run.done stop",
    ]


def test_a_subagents_last_text_is_the_result_unless_the_script_gives_one() -> None:
    """The result of a delegation is the last text of the sub-agent, unless the script gives another."""
    tools = [{"name": "task", "subagent": RESEARCHER}, {"name": "task", "subagent": RESEARCHER, "result": "mine"}]
    events = run_reply({"steps": [{"tools": tools}]})
    results = [event["result"] for event in events if event.get("toolName") == "task" and event["type"] == "tool.done"]
    assert results == ["Found.\n\n[sub-agent 'researcher': 2 step(s), finish reason 'stop', taskId 'task_1']", "mine"]


def test_a_nested_subagent_carries_its_parent() -> None:
    """The events of a nested sub-agent name its parent."""
    inner = {"name": "inner", "text": "deep"}
    outer = {"name": "outer", "steps": [{"tools": [{"name": "ask"}, {"name": "task", "subagent": inner}]}]}
    events = run_reply({"steps": [{"tools": [{"name": "task", "subagent": outer}]}]})
    [spoken] = [event for event in events if event["type"] == "text.done"]
    parent = {"name": "outer", "depth": 1, "toolCallId": "call_1"}
    assert spoken["subagent"] == {"name": "inner", "depth": 2, "toolCallId": "call_2", "parent": parent}


def test_parallel_subagents_interleave() -> None:
    """The events of parallel sub-agents alternate."""
    tools = [{"name": "task", "subagent": {"name": name, "text": "a b"}} for name in ("x", "y")]
    events = run_reply({"steps": [{"tools": tools}]})
    who = [event["subagent"]["name"] for event in events if "subagent" in event]
    assert who == ["x", "y"] * 5


def test_a_subagent_that_fails_is_a_failed_call_of_the_lead() -> None:
    """The error of a sub-agent is the error of the call that started it, and the lead agent continues."""
    failing = {"name": "researcher", "error": {"name": "Broken", "message": "no model"}}
    events = run_reply({"steps": [{"tools": [{"name": "task", "subagent": failing}]}, {"text": "sorry"}]})
    assert one(events, "error")["subagent"]["name"] == "researcher"
    assert one(events, "tool.error")["error"] == {"name": "Broken", "message": "no model"}
    assert one(events, "run.done")["text"] == "sorry"
