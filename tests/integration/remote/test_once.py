"""A turn may refund money, so whatever may have begun is never sent twice."""

from typing import Any

import pytest

from remote_evals import Eval, EvalContext, EvalRunner, Limits, RemoteTarget
from remote_evals.transport import client as _retry
from tests.serving.deployments import REFUND, named, serve

TURNED_AWAY: list[Any] = ["rate-limited", "unavailable", {"name": "status", "status": 503}]
FAULTS: list[Any] = [
    "unauthorized",
    "forbidden",
    "server-error",
    {"name": "status", "status": 502},
    {"name": "status", "status": 504},
    {"name": "status", "status": 500, "headers": {"Retry-After": "0"}},
    "html",
    "redirect",
    {"name": "redirect", "location": "https://agent.test/chat"},
    {"name": "no-headers", "for": "10s"},
    {"name": "silence", "after": 2},
    {"name": "keep-alives", "after": 2},
    {"name": "cut", "after": 0},
    {"name": "cut", "after": 2},
    {"name": "cut", "before_headers": True},
    {"name": "reset", "after": 2},
    {"name": "reset", "before_headers": True},
    {"name": "not-json", "after": 2},
    {"name": "half-frame", "after": 2},
    "no-run-done",
    "wrong-content-type",
]


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retry, "pause", lambda _: 0.0)


async def approve(t: EvalContext) -> None:
    """Ask for a refund, and approve it."""
    await t.send("refund")
    await t.approve()


@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_a_turn_that_fails_is_not_sent_again(fault: Any) -> None:
    """Whatever goes wrong once the deployment has the request, it gets it once."""
    limits = Limits(headers_s=0.3, first_event_s=0.3, silence_s=0.3)
    with serve({"text": "one two three", "fault": fault}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=limits)).arun(named("a"))
        assert report.count("error") == 1
        assert report.results[0].run.retries == 0
        assert "attempts" not in str(report.results[0].error)
        assert [request.method for request in server.requests] == ["POST"]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_a_decision_that_fails_is_not_sent_again(fault: Any) -> None:
    """An approval lets money flow, so it is sent once as well."""
    limits = Limits(headers_s=0.3, first_event_s=0.3, silence_s=0.3)
    struck = {**({"name": fault} if isinstance(fault, str) else fault), "request": "approval"}
    with serve({**REFUND, "fault": struck}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=limits)).arun(Eval("a", approve))
        assert report.count("error") == 1
        assert [request.path.count("approvals") for request in server.requests] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("fault", TURNED_AWAY, ids=str)
async def test_a_request_that_was_turned_away_is_sent_twice_more(fault: Any) -> None:
    """A 429 or 503 before any stream says that nothing was begun: three attempts, and the error counts them."""
    with serve({"text": "one", "fault": fault}) as server:
        report = await EvalRunner(RemoteTarget(server.url)).arun(named("a"))
        assert len(server.requests) == 3
    (row,) = report.results
    assert row.error is not None
    assert "(3 attempts)" in row.error.message
    assert row.run.retries == 2


@pytest.mark.slow
@pytest.mark.parametrize("fault", TURNED_AWAY, ids=str)
async def test_a_decision_that_was_turned_away_is_sent_again(fault: Any) -> None:
    """The same holds for an approval, which then does what it should."""
    struck = {**({"name": fault} if isinstance(fault, str) else fault), "request": "approval", "times": 2}
    with serve({**REFUND, "fault": struck}) as server:
        report = await EvalRunner(RemoteTarget(server.url)).arun(Eval("a", approve))
        assert [request.path.count("approvals") for request in server.requests] == [0, 1, 1, 1]
    assert report.results[0].run.reply == "Done."
    assert report.results[0].run.retries == 2
