"""Failures of a judge on real sockets: each error says where, what happened and what to try."""

import asyncio
import time
from typing import Any

import pytest

from fake_server import FakeServer
from remote_evals.errors import JudgeError, JudgeUnreachableError
from remote_evals.judging import LLMJudge
from remote_evals.judging.request import MAX_ATTEMPTS
from tests.serving.deployments import Connection, listen, sending, serve

TEXTS = {"rubric": "Is polite.", "request": "Where is order 41?", "reply": "It has shipped."}


def failing(*faults: Any) -> FakeServer:
    return serve(judge={"replies": [{"verdict": {"score": 0.9}, "fault": list(faults)}]})


async def get_failure(url: str, timeout_s: float = 20) -> JudgeError:
    """Return how a grading failed; its message says where, what and what to try, and can be printed."""
    with pytest.raises(JudgeError) as caught:
        await LLMJudge(url, "m", timeout_s=timeout_s).grade(**TEXTS)
    error = caught.value
    assert str(error) == f"{error.judge}: {error.happened.rstrip('.')}. {error.advice}."
    assert error.judge == f"{url}/v1/chat/completions"
    assert str(error).isprintable()
    return error


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            {"name": "status", "status": 400, "body": {"error": {"message": "bad temperature"}}},
            "400: bad temperature. Check",
        ),
        ({"name": "status", "status": 401, "body": {"error": "no"}}, "401: no. Check that the judge's API key"),
        (
            {"name": "status", "status": 404, "body": "no such\nmodel"},
            "404: no such model. Check the judge's URL and model",
        ),
        ({"name": "status", "status": 418, "body": ""}, "418. Check the judge's URL and settings"),
        ("forbidden", "403: Forbidden. Check that the judge's API key"),
        ("server-error", "500: The request failed."),
        ("unavailable", "503: <!DOCTYPE html>"),
        ("redirect", "302. Check the judge's URL"),
        ("html", "the answer (text/html) is not a chat completion: <!DOCTYPE html>"),
        ({"name": "half-frame", "after": 0}, "the answer (application/json) is not a chat completion: {"),
        ({"name": "status", "status": 200, "body": []}, "is not a chat completion: []"),
        ({"name": "status", "status": 200, "body": {"choices": [{}]}}, "is not a chat completion"),
        ({"name": "status", "status": 200, "body": {"choices": "x"}}, "is not a chat completion"),
    ],
)
async def test_an_answer_that_is_no_verdict_is_an_error_at_once(fault: Any, message: str) -> None:
    """A failure status, or a body that is not a completion, is quoted, and nothing is sent again."""
    with failing(fault) as server:
        error = await get_failure(server.url)
        assert len(server.requests) == 1
    assert message in str(error)
    assert error.code == "JUDGE_FAILED"


@pytest.mark.parametrize(
    "fault", [{"name": "cut"}, {"name": "cut", "after": 1}, {"name": "reset", "before_headers": True}]
)
async def test_a_transport_fault_is_tried_again(fault: dict[str, Any]) -> None:
    """A connection that breaks before the answer was whole makes the request be sent again."""
    with failing({**fault, "times": 1}) as server:
        verdict = await LLMJudge(server.url, "m").grade(**TEXTS)
        assert len(server.requests) == 2
    assert (verdict.score, verdict.usage.calls) == (0.9, 1)


async def test_a_connection_that_always_breaks_is_unreachable() -> None:
    """After three attempts the judge counts as unreachable."""
    with failing({"name": "cut", "after": 1}) as server:
        error = await get_failure(server.url)
        assert len(server.requests) == MAX_ATTEMPTS
    assert isinstance(error, JudgeUnreachableError)
    assert "event" not in str(error)


async def test_nobody_listening_is_unreachable() -> None:
    """A judge that refuses connections is unreachable."""
    server = failing()
    with server:
        url = server.url
    error = await get_failure(url)
    assert isinstance(error, JudgeUnreachableError)
    assert "could not connect (Connection refused). Check that the judge is up" in str(error)


async def test_something_that_speaks_no_http_is_unreachable() -> None:
    """An answer that is not HTTP is a transport fault."""
    async with listen(sending(b"SSH-2.0-OpenSSH\r\n\r\n")) as host:
        error = await get_failure(f"http://{host}")
    assert isinstance(error, JudgeUnreachableError)


async def test_a_rate_limit_is_waited_out() -> None:
    """A 429 with Retry-After is tried again, and not before that time."""
    with failing({"name": "rate-limited", "times": 1, "retry_after": 1}) as server:
        began = time.monotonic()
        verdict = await LLMJudge(server.url, "m").grade(**TEXTS)
        assert time.monotonic() - began >= 1
        assert len(server.requests) == 2
    assert verdict.score == 0.9


async def test_a_rate_limit_that_gives_a_date_is_waited_out() -> None:
    """Retry-After may be a date; a past one means now."""
    with failing({"name": "rate-limited", "times": 2, "retry_after": "Sat, 31 Jan 2026 12:00:00 GMT"}) as server:
        verdict = await LLMJudge(server.url, "m").grade(**TEXTS)
        assert len(server.requests) == 3
    assert verdict.score == 0.9


async def test_a_rate_limit_that_does_not_end_is_an_error() -> None:
    """After three attempts a rate limit is an error that says what helps."""
    with failing({"name": "rate-limited", "retry_after": 0}) as server:
        error = await get_failure(server.url)
        assert len(server.requests) == MAX_ATTEMPTS
    assert "the answer was 429: Too Many Requests. The judge limits how often" in str(error)


@pytest.mark.parametrize("headers", [{}, {"retry-after": "soon"}])
async def test_a_rate_limit_that_does_not_say_when_is_an_error_at_once(headers: dict[str, str]) -> None:
    """A 429 without a readable Retry-After is not tried again."""
    with failing({"name": "status", "status": 429, "headers": headers}) as server:
        await get_failure(server.url)
        assert len(server.requests) == 1


@pytest.mark.parametrize("fault", ["no-headers", {"name": "silence", "after": 1}])
async def test_a_judge_that_hangs_is_given_up_after_its_limit(fault: Any) -> None:
    """A judge without a whole answer in time is unreachable; the error names the limit, and nothing is sent again."""
    with failing(fault) as server:
        error = await get_failure(server.url, timeout_s=0.3)
        assert len(server.requests) == 1
    assert isinstance(error, JudgeUnreachableError)
    assert "timed out: no whole answer within 300ms" in str(error)


async def test_a_timeout_of_0_is_none() -> None:
    """A timeout of 0 sets no limit."""
    with serve(judge={"replies": [{"verdict": {"score": 0.9}, "delay": "100ms"}]}) as server:
        assert (await LLMJudge(server.url, "m", timeout_s=0).grade(**TEXTS)).score == 0.9


async def test_an_endless_answer_is_read_no_further_than_a_limit() -> None:
    """Reading stops at an answer of more than 1 MiB."""

    async def answer(connection: Connection) -> None:
        await connection.send([b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"])
        while True:
            await connection.send([b"x" * 65536])

    async with listen(answer) as host:
        error = await get_failure(f"http://{host}")
    assert "the answer is larger than 1 MiB" in str(error)


async def test_a_cancelled_grading_is_cancelled() -> None:
    """A cancellation is passed on, and nothing is sent again."""
    with failing("no-headers") as server:
        grading = asyncio.create_task(LLMJudge(server.url, "m").grade(**TEXTS))
        await asyncio.to_thread(server.wait_for_requests, 1)
        grading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await grading
        assert len(server.requests) == 1
