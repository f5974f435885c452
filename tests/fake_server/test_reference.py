"""The reference script explains every key of a script, and works."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from fake_server.__main__ import REFERENCE
from fake_server.faults import PARAMETERS, Fault
from fake_server.script import (
    Failure,
    HealthAnswer,
    JudgeReply,
    JudgeScript,
    Question,
    Reply,
    RunUsage,
    Script,
    SignIn,
    Step,
    StepUsage,
    SubAgent,
    TextCondition,
    Tool,
    TurnCondition,
    Usage,
    load_script,
)
from tests.fake_server.wire_client import ask, decide, one, post, send, serve

# the error of a sub-agent stands in a comment, because nothing could follow it
EXPLAINED_IN_A_COMMENT = {(SubAgent, "error")}


def given_keys(value: object) -> Iterator[tuple[type[BaseModel], str]]:
    """Yield every key the script gives, with the model it is a key of."""
    if isinstance(value, list):
        for item in value:
            yield from given_keys(item)
    if isinstance(value, BaseModel):
        for key in value.model_fields_set:
            yield type(value), key
            yield from given_keys(getattr(value, key))


@pytest.mark.parametrize(
    "model",
    [
        *(Script, TurnCondition, Reply, Step, Tool, SubAgent, Question, SignIn, Failure, StepUsage, RunUsage, Fault),
        *(HealthAnswer, JudgeScript, JudgeReply, TextCondition, Usage),
    ],
)
def test_every_key_is_in_the_reference(model: type[BaseModel]) -> None:
    """Every key of every model is in the reference script."""
    given = set(given_keys(load_script(REFERENCE)))
    assert {(model, key) for key in model.model_fields} <= given | EXPLAINED_IN_A_COMMENT


def test_every_fault_with_every_parameter_is_in_the_reference() -> None:
    """Every fault is in the reference script with each parameter that it takes."""
    faults = load_script(REFERENCE).replies[-1].fault
    explained = {(fault.name, "for" if key == "for_s" else key) for fault in faults for key in fault.model_fields_set}
    assert {(name, key) for name, keys in PARAMETERS.items() for key in keys} <= explained


def test_the_reference_is_a_deployment() -> None:
    """The reference script can be served, and its replies and faults work."""
    with serve(REFERENCE.read_text("utf-8")) as server:
        assert one(ask(server, "Where is order 41", "a"), "run.done")["text"] == "It has shipped."
        first = decide(server, ask(server, "refund", "b"), {"approved": True}, "b")
        second = decide(server, first, {"answer": "Visa"}, "b")
        path = f"/chat/b/approvals/{one(second, 'approval.requested')['approvalId']}"
        assert send(server, "POST", path, json={"approved": True}).json()["code"] == "LOUSHO_SIGNIN_PENDING"
        assert one(decide(server, second, {"approved": True}, "b"), "run.done")["object"] == {"refunded": True}
        assert one(ask(server, "crash", "c"), "error")["error"]["code"] == "PROVIDER_FAILED"
        assert [post(server, "hi", "d").status_code for _ in range(3)] == [401, 403, 429]
