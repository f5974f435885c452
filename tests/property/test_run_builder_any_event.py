"""Any events give a run, and parallel calls may end in any order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.results import RunResult

TYPES = [
    "run.start",
    "step.start",
    "step.done",
    "text.delta",
    "text.done",
    "reasoning.delta",
    "tool.start",
    "tool.resume",
    "tool.done",
    "tool.error",
    "approval.requested",
    "error",
    "run.done",
]
FIELDS = [
    "runId",
    "text",
    "toolCallId",
    "toolName",
    "args",
    "result",
    "error",
    "durationMs",
    "approvalId",
    "question",
    "finishReason",
    "usage",
    "object",
    "subagent",
    "name",
    "message",
    "code",
    "parent",
    "inputTokens",
    "promptTokens",
    "outputTokens",
    "totalTokens",
    "costUsd",
    "modelCalls",
]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**400)
    | st.floats()
    | st.text(st.characters(codec=None))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=10,
)
FRAMES = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.sampled_from(TYPES) | VALUES,
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8),
)


def build_run(frames: list[dict[str, Any]]) -> RunResult:
    run = RunBuilder(CHAT.open_order())
    for index, frame in enumerate(frames):
        run.add(parse_event(frame), at_ms=float(index))
    return run.result(total_ms=float(len(frames)))


@pytest.mark.slow
@given(st.lists(FRAMES | st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=12))
def test_any_json_object_is_an_event(frames: list[dict[str, Any]]) -> None:
    """Any JSON objects give a run with no more calls than there were events of tools."""
    run = build_run(frames)
    assert run.last_event is None or isinstance(run.last_event, str)
    assert len(run.tool_calls) <= sum(str(frame.get("type")).startswith("tool.") for frame in frames)


AGENTS = [None, *({"name": name, "toolCallId": call_id} for name in ("a", "b") for call_id in ("call_1", "call_2"))]
CALLS = st.lists(
    st.tuples(st.sampled_from(["call_1", "call_2", "call_3"]), st.sampled_from(AGENTS), st.booleans()),
    min_size=1,
    max_size=8,
    unique_by=lambda call: (call[0], str(call[1])),
)


@given(CALLS, st.data())
def test_parallel_calls_may_end_in_any_order(
    calls: list[tuple[str, dict[str, str] | None, bool]], data: st.DataObject
) -> None:
    """Any order of the ends, also between the starts, gives the same calls with the same outcomes and results."""
    starts: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    for number, (call_id, subagent, fails) in enumerate(calls):
        common = {"toolCallId": call_id, "toolName": f"tool_{number}", "subagent": subagent}
        starts.append({"type": "tool.start", "args": {"n": number}, **common})
        ends.append(
            {"type": "tool.error" if fails else "tool.done", "result": number, "error": {"name": "E"}, **common}
        )
    frames = list(starts)
    for start, end in zip(starts, ends, strict=True):
        frames.insert(data.draw(st.integers(frames.index(start) + 1, len(frames))), end)
    assert build_run(frames).tool_calls == build_run([*starts, *ends]).tool_calls
    assert [(call.name, call.result) for call in build_run(frames).tool_calls] == [
        (f"tool_{number}", number) for number in range(len(calls))
    ]
