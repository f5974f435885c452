"""The runs that the recorded streams of a real deployment build, read by an independent SSE parser."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from httpx_sse import EventSource

from remote_evals.protocols.chat import CHAT
from remote_evals.protocols.chat.parsing import parse_event
from remote_evals.protocols.run_builder import RunBuilder
from remote_evals.results import RunResult
from tests.contract.facts import ANSWERS, FACTS, RECORDINGS, get_facts, load_body, load_head


def decode(name: str) -> Iterator[str]:
    """Yield the data of the recorded messages."""
    status, headers = load_head(name)
    source = EventSource(httpx.Response(status, headers=headers, content=load_body(name)))
    return (event.data for event in source.iter_sse() if event.event == "message")


def rebuild(*names: str) -> RunResult:
    """Return the run that the recordings build, one stream after another."""
    run = RunBuilder(CHAT.open_order())
    for name in names:
        run.begin_stream()
        for data in decode(name):
            run.add(parse_event(json.loads(data)), at_ms=1.0)
    return run.result(total_ms=2.0)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_stream_rebuilds_to_its_facts(name: str) -> None:
    """The recorded bytes give exactly the facts that an independent reader found in them."""
    assert get_facts(rebuild(name)) == FACTS[name]


@pytest.mark.parametrize(
    ("pause", "decision"), [("05_approval_pause", "05e_approve"), ("05g_pause_for_reject", "05h_reject")]
)
def test_a_recorded_pause_and_its_decision_are_one_run(pause: str, decision: str) -> None:
    """A paused run continues in a second stream: one call, the later usage, the steps of both, nothing pending."""
    steps = FACTS[pause]["steps"] + FACTS[decision]["steps"]
    assert get_facts(rebuild(pause, decision)) == {**FACTS[decision], "steps": steps}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_recorded_answer_that_is_no_stream_has_its_status_and_body(name: str) -> None:
    """Every recording of a plain answer has the status and body of its facts."""
    status, _ = load_head(name)
    assert {"status": status, "body": load_body(name).decode()} == FACTS[name]


def test_every_recording_has_facts() -> None:
    """Each recorded file belongs to an entry of the facts, and each entry has both its files."""
    files = {path.name for path in (Path(__file__).parent / "recordings").iterdir()}
    assert files == {f"{name}.{ending}" for name in FACTS for ending in ("sse", "headers")}
