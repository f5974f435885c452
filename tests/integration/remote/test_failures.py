"""Each way in which a deployment can fail while it streams, or in place of streaming, as the fake server breaks it."""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from remote_evals import (
    Limits,
    RemoteEvalsError,
    RemoteStatusError,
    RemoteStreamError,
    RemoteTimeoutError,
    RemoteUnauthorizedError,
)
from tests.serving.deployments import PATIENT, fail_among_others, serve

QUERY = "?key=hidden-in-the-query"
SHORT_S = 0.2


@dataclass(frozen=True)
class Fault:
    """A fault of the fake server, and what it must become; `happened` is a pattern for all of that part."""

    fault: Any
    error: type[RemoteEvalsError]
    happened: str
    reply: str = ""
    limits: Limits = PATIENT
    seen: dict[str, Any] = field(default_factory=dict)


FAULTS = {
    "401": Fault("unauthorized", RemoteUnauthorizedError, r"the token was refused \(401: Unauthorized\)"),
    "403": Fault("forbidden", RemoteUnauthorizedError, r"this caller is not allowed \(403: Forbidden\)"),
    "404": Fault(
        {"name": "status", "status": 404, "body": "not found"},
        RemoteStatusError,
        "the answer was 404: not found",
        seen={"status": 404},
    ),
    "429": Fault("rate-limited", RemoteStatusError, "the answer was 429: Too Many Requests", seen={"status": 429}),
    "500": Fault("server-error", RemoteStatusError, "the answer was 500: The request failed.*", seen={"status": 500}),
    "503 with HTML": Fault(
        "unavailable", RemoteStatusError, "the answer was 503: <!DOCTYPE html> .*</html>", seen={"status": 503}
    ),
    "a status without a body": Fault(
        {"name": "status", "status": 418}, RemoteStatusError, "the answer was 418", seen={"status": 418}
    ),
    "redirect": Fault(
        {"name": "redirect", "location": "https://me:pw@login.test:8443/path?next=hidden-in-the-query#x"},
        RemoteStatusError,
        "the answer was 302, a redirect to https://login.test:8443",
        seen={"status": 302},
    ),
    "200 with HTML": Fault(
        "html", RemoteStreamError, "the answer is text/html, not an event stream: <!DOCTYPE html> .*Sign in.*"
    ),
    "another content type": Fault(
        {"name": "wrong-content-type", "content_type": "application/json"},
        RemoteStreamError,
        "the answer is application/json, not an event stream: data: .*",
    ),
    "cut": Fault(
        {"name": "cut", "after": 3},
        RemoteStreamError,
        r"the connection (was closed|broke) after text\.delta.*",
        reply="one ",
        seen={"last": "text.delta"},
    ),
    "cut before the first event": Fault(
        {"name": "cut", "after": 0}, RemoteStreamError, "the connection (was closed|broke) before the first event.*"
    ),
    "reset": Fault(
        {"name": "reset", "after": 4},
        RemoteStreamError,
        r"the connection (was closed|broke) after text\.delta.*",
        reply="one two ",
        seen={"last": "text.delta"},
    ),
    "reset before the headers": Fault(
        {"name": "reset", "before_headers": True},
        RemoteStreamError,
        "the connection (was closed|broke) before the first event.*",
    ),
    "a frame that is not JSON": Fault(
        {"name": "not-json", "after": 3},
        RemoteStreamError,
        r"""an event is not JSON \(.*\): '\{"type": this is not JSON'""",
        reply="one ",
        seen={"last": "text.delta"},
    ),
    "half a frame": Fault(
        {"name": "half-frame", "after": 3},
        RemoteStreamError,
        r"the stream ended after text\.delta, in the middle of a frame, before run\.done",
        reply="one ",
        seen={"last": "text.delta"},
    ),
    "no run.done": Fault(
        "no-run-done",
        RemoteStreamError,
        r"the stream ended after step\.done, before run\.done",
        reply="one two three",
        seen={"last": "step.done"},
    ),
    "headers clock": Fault(
        "no-headers",
        RemoteTimeoutError,
        "timed out: no response headers within 200ms",
        limits=Limits(headers_s=SHORT_S),
        seen={"clock": "headers", "last_event": None},
    ),
    "first-event clock": Fault(
        {"name": "silence", "after": 0},
        RemoteTimeoutError,
        "timed out: no event within 200ms after the headers",
        limits=Limits(first_event_s=SHORT_S),
        seen={"clock": "first event", "last_event": None},
    ),
    "first-event clock, keep-alives": Fault(
        {"name": "keep-alives", "after": 0, "every": "20ms"},
        RemoteTimeoutError,
        "timed out: no event within 200ms after the headers",
        limits=Limits(first_event_s=SHORT_S),
        seen={"clock": "first event", "last_event": None},
    ),
    "silence clock": Fault(
        {"name": "silence", "after": 3},
        RemoteTimeoutError,
        r"timed out: no event for 200ms; the last event was text\.delta",
        reply="one ",
        limits=Limits(silence_s=SHORT_S),
        seen={"clock": "silence", "last_event": "text.delta", "last": "text.delta"},
    ),
    "silence clock, keep-alives": Fault(
        {"name": "keep-alives", "after": 3, "every": "20ms"},
        RemoteTimeoutError,
        r"timed out: no event for 200ms; the last event was text\.delta",
        reply="one ",
        limits=Limits(silence_s=SHORT_S),
        seen={"clock": "silence", "last_event": "text.delta", "last": "text.delta"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_its_own_typed_error(name: str) -> None:
    """A failing deployment gives the error of its kind, keeps what had come, and stops no other case of the run."""
    expected = FAULTS[name]
    with serve({"text": "one two three", "fault": expected.fault}) as server:
        failure = await fail_among_others(server.url + QUERY, limits=expected.limits, token="t0ken-t0ken")
    error, partial = failure.error, failure.error.partial
    assert type(error) is expected.error
    assert re.fullmatch(expected.happened, error.happened), error.happened
    assert "hidden-in-the-query" not in repr(error) + repr(failure.report)
    assert partial is not None
    assert partial.reply == expected.reply
    seen = {key: getattr(error, key) for key in expected.seen if key != "last"} | {"last": partial.last_event}
    assert seen == {"last": None} | expected.seen


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        ("unauthorized", "--token-env"),
        ("forbidden", "lack a right"),
        ({"name": "status", "status": 404}, "mounted below a path"),
        ("rate-limited", "--concurrency"),
        ("server-error", "deployment's logs"),
        ("redirect", "Redirects are not followed"),
        ("html", "that of a page"),
        ({"name": "cut", "after": 3}, "logs"),
    ],
)
async def test_the_advice_fits_the_failure(fault: Any, advice: str) -> None:
    """What to try depends on what happened."""
    with serve({"text": "one two", "fault": fault}) as server:
        assert advice in (await fail_among_others(server.url)).error.advice


async def test_a_case_has_a_deadline_of_its_own() -> None:
    """A case that is not done within its limit ends there, however lively its stream is, and names the option."""
    slow = {"steps": [{"text": "one"}, {"text": "never", "tools": [{"name": "wait", "duration": "10m"}]}]}
    with serve(slow) as server:
        failure = await fail_among_others(server.url, timeout_s=SHORT_S)
    assert isinstance(failure.error, RemoteTimeoutError)
    assert (failure.error.clock, failure.error.last_event) == ("case", "tool.start")
    assert failure.error.happened == "timed out: the case was not done within 200ms; the last event was tool.start"
    assert "--timeout" in failure.error.advice
    assert failure.row.run.reply
    assert [call.name for call in failure.row.run.tool_calls] == ["wait"]


async def test_what_was_seen_of_a_broken_run_is_kept() -> None:
    """Steps and tool calls that came before a stream broke are in the error and in the report, with what is missing."""
    step = {"tools": [{"name": "lookup_order", "args": {"orderId": "42"}, "result": {"status": "shipped"}}]}
    with serve({"steps": [step, {"text": "It is here."}], "fault": {"name": "cut", "after": 7}}) as server:
        failure = await fail_among_others(server.url)
    run = failure.row.run
    assert [(call.name, call.args, call.outcome) for call in run.tool_calls] == [
        ("lookup_order", {"orderId": "42"}, "ok")
    ]
    assert (run.steps, run.usage, run.missing[0], run.reply) == (1, None, "usage", "It ")
