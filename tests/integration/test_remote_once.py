"""A turn may refund money, so nothing is ever sent twice."""

from typing import Any

import pytest

from remote_evals import EvalRunner, Limits, RemoteTarget
from tests.integration.serving import named, serve

FAULTS: list[Any] = [
    "unauthorized",
    "forbidden",
    "rate-limited",
    "server-error",
    "unavailable",
    "html",
    "redirect",
    {"name": "no-headers", "for": "10s"},
    {"name": "silence", "after": 2},
    {"name": "keep-alives", "after": 2},
    {"name": "cut", "after": 2},
    {"name": "reset", "after": 2},
    {"name": "reset", "before_headers": True},
    {"name": "not-json", "after": 2},
    {"name": "half-frame", "after": 2},
    "no-run-done",
    "wrong-content-type",
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_a_turn_that_fails_is_not_sent_again(fault: Any) -> None:
    """Whatever goes wrong, the deployment gets the request of a turn once."""
    limits = Limits(headers_s=0.3, first_event_s=0.3, silence_s=0.3)
    with serve({"text": "one two three", "fault": fault}) as server:
        report = await EvalRunner(RemoteTarget(server.url, limits=limits)).arun(named("a"))
        assert report.count("error") == 1
        assert [request.method for request in server.requests] == ["POST"]
