from typing import Any

import pytest

from remote_evals.protocols import events
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.events import UnknownEvent
from remote_evals.results import RunError
from tests.builders import agent, frame

TYPES = [
    ("run.start", events.RunStart),
    ("step.start", events.StepStart),
    ("step.done", events.StepDone),
    ("text.delta", events.TextDelta),
    ("text.done", events.TextDone),
    ("tool.start", events.ToolStart),
    ("tool.resume", events.ToolStart),
    ("tool.done", events.ToolEnd),
    ("tool.error", events.ToolEnd),
    ("approval.requested", events.ApprovalRequested),
    ("error", events.RunFailed),
    ("run.done", events.RunDone),
    ("reasoning.delta", UnknownEvent),
    ("object.delta", UnknownEvent),
    ("agent.teleported", UnknownEvent),
]

NO_TEXTS: list[Any] = [None, 5, 1.5, True, [], ["x"], {}, {"x": 1}]


@pytest.mark.parametrize(("kind", "expected"), TYPES, ids=[kind for kind, _ in TYPES])
def test_every_type_has_its_event(kind: str, expected: type[events.Event]) -> None:
    """Each type of the protocol becomes its own event, and an informational or newer one an unknown event."""
    event = parse_event(frame(kind))
    assert type(event) is expected
    assert event.type == kind


def test_an_unknown_event_keeps_its_whole_frame() -> None:
    """Nothing of an event that is not understood is lost."""
    unknown = frame("agent.teleported", to={"planet": "Mars"})
    event = parse_event(unknown)
    assert isinstance(event, UnknownEvent)
    assert event.frame == unknown


@pytest.mark.parametrize("kind", NO_TEXTS, ids=repr)
def test_a_type_that_is_no_text_is_an_unknown_event(kind: Any) -> None:
    """An event without a usable type is kept as unknown."""
    assert isinstance(parse_event({"type": kind}), UnknownEvent)


def test_an_unknown_field_is_dropped() -> None:
    """A field that a newer server added changes nothing."""
    assert parse_event(frame("text.delta", text="a", colour="red")) == parse_event(frame("text.delta", text="a"))


def test_a_tool_call_is_read_with_all_its_fields() -> None:
    """The start of a call carries its id, its name and its parsed args."""
    event = parse_event(frame("tool.start", toolCallId="c", toolName="t", args={"a": [1]}))
    assert event == events.ToolStart("tool.start", None, {}, "c", "t", {"a": [1]}, resumed=False)


def test_a_resumed_call_is_told_from_a_new_one() -> None:
    """A call that goes on after an approval is marked as resumed."""
    event = parse_event(frame("tool.resume", toolCallId="c", toolName="t", args={}))
    assert event == events.ToolStart("tool.resume", None, {}, "c", "t", {}, resumed=True)


def test_a_question_is_read_from_an_approval() -> None:
    """An approval that asks a question carries the question as it was put."""
    question = {"text": "Which?", "options": ["a", "b"]}
    event = parse_event(frame("approval.requested", approvalId="a", kind="question", question=question))
    assert isinstance(event, events.ApprovalRequested)
    assert (event.approval_id, event.question) == ("a", question)


def test_nested_subagents_are_listed_from_the_outermost() -> None:
    """A sub-agent of a sub-agent is known by the whole way to it: names and starting calls."""
    event = parse_event(frame("step.start", subagent=agent("inner", "call_2", agent("outer", "call_1"))))
    assert event.subagent == events.Subagent(("outer", "inner"), ("call_1", "call_2"))


def test_ten_thousand_nested_parents_are_read() -> None:
    """However deep a server says that its sub-agents nest, reading them does not fail."""
    subagent = agent("a0", "c")
    for index in range(1, 10_000):
        subagent = agent(f"a{index}", "c", subagent)
    event = parse_event(frame("step.start", subagent=subagent))
    assert event.subagent is not None
    assert len(event.subagent.path) == 10_000


@pytest.mark.parametrize("value", NO_TEXTS, ids=repr)
@pytest.mark.parametrize(
    ("kind", "field", "attribute", "absent"),
    [
        ("text.delta", "text", "text", ""),
        ("run.done", "text", "text", None),
        ("run.done", "finishReason", "finish_reason", ""),
        ("run.start", "runId", "run_id", None),
        ("tool.start", "toolCallId", "call_id", ""),
        ("tool.done", "toolName", "name", ""),
    ],
)
def test_a_text_of_the_wrong_type_is_absent(kind: str, field: str, attribute: str, absent: Any, value: Any) -> None:
    """A field that should be text and is not counts as if it had not been sent."""
    assert getattr(parse_event({"type": kind, field: value}), attribute) == absent


@pytest.mark.parametrize("value", [None, 5, True, "x", []], ids=repr)
@pytest.mark.parametrize(
    ("kind", "field", "attribute", "absent"),
    [
        ("tool.start", "args", "args", {}),
        ("tool.error", "error", "error", RunError(name="Error")),
        ("error", "error", "error", RunError(name="Error")),
        ("approval.requested", "question", "question", None),
        ("run.done", "usage", "usage", None),
        ("step.start", "subagent", "subagent", None),
    ],
)
def test_an_object_of_the_wrong_type_is_absent(kind: str, field: str, attribute: str, absent: Any, value: Any) -> None:
    """A field that should be an object and is not counts as if it had not been sent."""
    assert getattr(parse_event({"type": kind, field: value}), attribute) == absent


@pytest.mark.parametrize(
    ("value", "expected"),
    [(12, 12), (0.5, 0.5), (True, None), ("12", None), (None, None), (float("nan"), None), (float("inf"), None)],
)
def test_a_duration_is_a_finite_number_or_absent(value: Any, expected: float | None) -> None:
    """The duration of a call is taken only where it is a number that can be compared."""
    event = parse_event(frame("tool.done", durationMs=value))
    assert isinstance(event, events.ToolEnd)
    assert event.duration_ms == expected


@pytest.mark.parametrize("kind", [kind for kind, _ in TYPES])
def test_an_integer_beyond_every_float_never_raises(kind: str) -> None:
    """JSON may hold integers that no float can; they must not break the reading of any event."""
    huge = 10**400
    usage = {"totalTokens": huge, "costUsd": huge}
    event = parse_event(frame(kind, durationMs=huge, usage=usage, text=huge, step=huge))
    assert event.type == kind


@pytest.mark.parametrize(
    "kind", [{}, {"kind": "sign-in"}, {"kind": "question"}, {"kind": "newer"}, {"kind": 5}], ids=str
)
def test_the_kind_of_a_request_is_read_even_alone(kind: dict[str, Any]) -> None:
    """A request of a kind asks for it, even where its details are missing or of another shape."""
    for details in ({}, {"question": 1, "signIn": [], "expiresAt": 9}):
        request = parse_event(frame("approval.requested", **kind, **details))
        assert isinstance(request, events.ApprovalRequested)
        assert (request.question is not None) == (kind == {"kind": "question"})
        assert (request.sign_in is not None) == (kind == {"kind": "sign-in"})
        assert request.expires_at is None
