"""Which requests of a paused run are open, over the streams of its decisions."""

from typing import Any

import pytest

from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.run_builder import RunBuilder
from tests.builders import ended, frame, started

PAUSED = frame("run.done", finishReason="awaiting-approval", text="")


def request(name: str, **fields: Any) -> dict[str, Any]:
    """Return the frame of a request for a decision on the call of a tool, which has an id of the same name."""
    return frame("approval.requested", approvalId=f"id-{name}", toolCallId=f"call-{name}", toolName=name, **fields)


class Paused:
    """A run that waits for decisions on `one`, `two` and `three`."""

    def __init__(self) -> None:
        self._run = RunBuilder(CHAT.open_order())
        self.read(*(started(f"call-{name}", name) for name in ("one", "two", "three")))
        self.read(*map(request, ("one", "two", "three")), PAUSED)

    def read(self, *frames: dict[str, Any]) -> None:
        """Read events of the stream."""
        for one in frames:
            self._run.add(parse_event(one), 0.0)

    def decide(self, name: str, *frames: dict[str, Any]) -> list[str]:
        """Read the stream of a decision, and return what is open then."""
        self._run.begin_stream(f"id-{name}")
        self.read(*frames)
        return self.open

    @property
    def open(self) -> list[str]:
        """The tools of the open requests."""
        return [one.tool for one in self._run.result(total_ms=0.0).pending_approvals]


def test_requests_are_open_in_the_order_of_asking() -> None:
    """Each request of a pause is open, and the first is the pending approval."""
    assert Paused().open == ["one", "two", "three"]


@pytest.mark.parametrize("repeated", [(), ("one", "three"), ("three", "one"), ("one",)], ids=str)
def test_the_others_stay_open_whether_repeated_or_not(repeated: tuple[str, ...]) -> None:
    """A decision closes its own request alone; the others keep their order, even if they are asked again in another."""
    assert Paused().decide("two", frame("run.start"), *map(request, repeated), PAUSED) == ["one", "three"]


def test_a_new_request_comes_last() -> None:
    """A request that the stream of a decision adds is behind those that are still open."""
    assert Paused().decide("one", request("four"), PAUSED) == ["two", "three", "four"]


def test_the_decided_request_may_be_asked_again() -> None:
    """A request that is asked again after its decision is open again."""
    assert Paused().decide("one", request("one"), PAUSED) == ["two", "three", "one"]


def test_a_decision_without_an_answer_closes_nothing() -> None:
    """Until an event of its stream comes, a decision may have been refused: its request stays open."""
    assert Paused().decide("one") == ["one", "two", "three"]
    assert Paused().decide("one", frame("run.start")) == ["two", "three"]


@pytest.mark.parametrize("reason", ["stop", "error", "aborted", "a-newer-reason"])
def test_a_run_that_does_not_pause_again_waits_for_nothing(reason: str) -> None:
    """Whatever else ends the run, what was open before is open no more."""
    assert Paused().decide("one", frame("run.done", finishReason=reason, text="")) == []


def test_a_call_that_goes_on_was_decided() -> None:
    """A request that expired, or that another client decided, is closed once its call goes on."""
    resumed = frame("tool.resume", toolCallId="call-two", toolName="two", args={})
    assert Paused().decide("one", resumed, ended("call-two", "two"), PAUSED) == ["three"]


def test_the_arguments_of_a_resumed_call_are_those_it_goes_on_with() -> None:
    """Edited arguments replace those of the start; a resumed call that shows none keeps its own."""
    run = RunBuilder(CHAT.open_order())
    for one in (
        started("a", "pay", {"eur": 900}),
        started("b", "drop", {"db": "x"}),
        frame("tool.resume", toolCallId="a", toolName="pay", args={"eur": 1}),
        frame("tool.resume", toolCallId="b", toolName="drop"),
    ):
        run.add(parse_event(one), 0.0)
    assert [call.args for call in run.result(total_ms=0.0).tool_calls] == [{"eur": 1}, {"db": "x"}]
