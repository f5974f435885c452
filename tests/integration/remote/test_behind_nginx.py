"""An agent behind nginx: whatever nginx does to a stream, the run that comes of it is right."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from remote_evals import Limits, RemoteTarget, RemoteTimeoutError
from remote_evals.doctor import MemoryProbe
from remote_evals.protocols.events import Event
from remote_evals.results import RunResult, Timing
from tests.serving.command import remote_evals
from tests.serving.deployments import PATIENT, fail_among_others
from tests.serving.diagnosis import find, statuses
from tests.serving.leaks import TOKEN
from tests.serving.nginx import PASSWORD, Nginx

WAYS = [
    "{url}/api/agent",
    "{url}/closing",
    "{url}/http10/agent",
    "{url}/buffering/agent",
    "{url}/told-not-to-buffer/agent",
    "{url}/gzip",
    "{url}/asking-for-gzip",
    "{url}/buffering-and-gzip",
    "{tls_url}/api/agent",
]


class Encodings:
    """A tap that notes how each answer was compressed."""

    def __init__(self) -> None:
        self.seen: list[str | None] = []

    def on_headers(self, response: httpx.Response, at_ms: float) -> None:
        self.seen.append(response.headers.get("content-encoding"))

    def on_events(self, events: Sequence[Event], comments: int, at_ms: float) -> None:
        pass


def without_times(run: RunResult) -> RunResult:
    return run.model_copy(update={"timing": Timing(), "run_id": None, "trace_id": None, "pending_approvals": ()})


async def talk(url: str, **target: Any) -> tuple[list[RunResult], list[dict[str, Any]]]:
    """Have a conversation with a pause for an approval in it; returns its runs and its transcript."""
    async with RemoteTarget(url, TOKEN, limits=PATIENT, **target) as open_target, open_target.open_session() as session:
        hello = await session.send("hi", 1)
        paused = await session.send("refund", 2)
        assert paused.pending_approval
        done = await session.decide(paused.pending_approval.approval_id, {"approved": True})
        return [without_times(run) for run in (hello, paused, done)], await session.transcript()


@pytest.mark.parametrize("way", WAYS)
async def test_a_conversation_is_the_same_as_without_nginx(way: str, nginx: Nginx) -> None:
    """Turns, a decision, the transcript and the token pass nginx, and nothing is lost, added or found odd."""
    runs, messages = await talk(
        way.format(url=nginx.url, tls_url=nginx.tls_url), ca_bundle=nginx.bundle if "tls" in way else None
    )
    assert (runs, messages) == await talk(nginx.agents["agent"].url)
    assert [run.finish_reason for run in runs] == ["stop", "awaiting-approval", "stop"]
    assert [run.warnings for run in runs] == [(), (), ()]
    assert runs[0].reply == "Turn 1 by Bearer [redacted]."


@pytest.mark.parametrize(("way", "encoding"), [("gzip", None), ("asking-for-gzip", "gzip")])
async def test_nginx_compresses_for_who_asks(way: str, encoding: str | None, nginx: Nginx) -> None:
    """Where nginx compresses event streams, asking for none keeps it from it, and a proxy before it may ask anew."""
    encodings = Encodings()
    target = RemoteTarget(f"{nginx.url}/{way}", limits=PATIENT)
    async with target, target.open_session(observer=encodings) as session:
        assert (await session.send("hi", 1)).reply == "Turn 1 by ."
    assert encodings.seen == [encoding]


@pytest.mark.parametrize("way", ["to/stalling", "http10/stalling", "told-not-to-buffer/stalling"])
async def test_events_come_while_the_agent_still_runs(way: str, nginx: Nginx) -> None:
    """Without proxy_buffering, or with the header X-Accel-Buffering: no, events come when the agent sends them."""
    failure = await fail_among_others(f"{nginx.url}/{way}", limits=Limits(silence_s=0.5))
    assert isinstance(failure.error, RemoteTimeoutError)
    assert (failure.error.clock, failure.row.run.reply) == ("silence", "one two ")


async def test_a_buffering_nginx_holds_back_even_the_headers(nginx: Nginx) -> None:
    """As long as the agent runs, nothing comes through proxy_buffering, so that the clock of the headers runs out."""
    failure = await fail_among_others(f"{nginx.url}/buffering/stalling", limits=Limits(headers_s=0.2))
    assert isinstance(failure.error, RemoteTimeoutError)
    assert (failure.error.clock, failure.row.run.last_event) == ("headers", None)


async def test_a_password_of_nginx_goes_into_a_header(nginx: Nginx) -> None:
    """What nginx asks for by auth_basic is given as a header, and is a secret as a token is."""
    credentials = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
    target = RemoteTarget(f"{nginx.url}/password", headers={"Authorization": f"Basic {credentials}"}, limits=PATIENT)
    async with target, target.open_session() as session:
        reply = (await session.send("hi", 1)).reply
    assert reply.startswith("Turn 1 by ")
    assert "[redacted]" in reply
    assert credentials not in reply


async def test_the_doctor_sees_what_nginx_does(nginx: Nginx) -> None:
    """A check-up tells of a stream that nginx holds back and compresses, and what to change in its configuration."""
    found = await find(f"{nginx.url}/buffering-and-gzip", probe=MemoryProbe("slowly"))
    assert statuses(found, "streaming", "compression") == ["warn", "warn"]
    assert found["streaming"].happened.startswith("events came all at the end")
    assert "nginx: proxy_buffering off" in found["streaming"].advice
    assert found["compression"].happened == "the stream is compressed as 'gzip'"


def test_a_command_through_tls_of_nginx(nginx: Nginx, tmp_path: Path) -> None:
    """The command reaches an agent behind nginx with a certificate of the authority that it is given."""
    (tmp_path / "s.eval.yaml").write_text("cases: [{name: a, prompt: hi, must_contain: Turn 1}]")
    args = ["run", tmp_path, "--url", f"{nginx.tls_url}/api/agent", "--ca-bundle", nginx.bundle]
    done = remote_evals(*args)
    assert done.code == 0, done.all
