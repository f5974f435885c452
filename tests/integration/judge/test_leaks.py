"""The judge's key leaves the process only on the wire, whatever the judge echoes."""

import asyncio
import logging
import re
from typing import Any

import pytest

from fake_server import FakeServer
from remote_evals import Redactor, UsageError
from remote_evals.errors import JudgeError, JudgeUnparseableError
from remote_evals.judging import LLMJudge
from remote_evals.judging.endpoint import KEY_VARIABLE, MODEL_VARIABLE, URL_VARIABLE
from tests.serving.deployments import listen, sending, serve
from tests.serving.leaks import (
    API_KEY,
    QUERY,
    QUERY_KEY,
    TOKEN,
    assert_error_keeps_secrets,
    assert_no_leak,
)

ECHO = f"you sent {TOKEN}, {API_KEY} and {QUERY_KEY}"
TEXTS = {"rubric": "r", "request": "q", "reply": "a"}

FAULTS: dict[str, Any] = {
    "401": {"name": "status", "status": 401, "body": {"error": {"message": ECHO}}},
    "500": {"name": "status", "status": 500, "body": ECHO, "headers": {"x-echo": ECHO}},
    "long": {"name": "status", "status": 500, "body": "x" * 290 + " " + ECHO},
    "no completion": {"name": "status", "status": 200, "body": {"error": ECHO}},
    "redirect": {"name": "redirect", "location": f"https://{TOKEN}.test/{TOKEN}?t={API_KEY}"},
    "content type": {"name": "status", "status": 200, "body": "x", "headers": {"content-type": f"text/{TOKEN}"}},
    "rate limit": {"name": "rate-limited", "retry_after": 0},
    "cut": {"name": "cut", "after": 1},
    "reset": {"name": "reset", "after": 1},
    "reset before the headers": {"name": "reset", "before_headers": True},
    "no headers": "no-headers",
    "silence": {"name": "silence", "after": 1},
}


@pytest.fixture(autouse=True)
def _every_logger_tells_all(caplog: pytest.LogCaptureFixture) -> None:
    for name in (None, "httpx", "httpcore", "aiohttp", "aiohttp.client", "asyncio", "remote_evals"):
        caplog.set_level(logging.DEBUG, name)


def judge_at(url: str) -> LLMJudge:
    return LLMJudge(url + QUERY, "m", api_key=TOKEN, headers={"X-Api-Key": API_KEY}, timeout_s=0.5)


def judging(**reply: Any) -> FakeServer:
    return serve(judge={"api_key": TOKEN, "replies": [reply]})


def assert_log_keeps_secrets(caplog: pytest.LogCaptureFixture) -> None:
    assert_no_leak([("log", re.sub(r"\s+", " ", caplog.text + repr([record.args for record in caplog.records])))])


async def assert_failure_keeps_secrets(url: str, caplog: pytest.LogCaptureFixture) -> JudgeError:
    asyncio.get_running_loop().set_debug(True)
    with pytest.raises(JudgeError) as caught:
        await judge_at(url).grade(**TEXTS)
    assert_error_keeps_secrets(caught.value)
    assert_log_keeps_secrets(caplog)
    return caught.value


async def test_no_verdict_logs_the_key(caplog: pytest.LogCaptureFixture) -> None:
    """A successful grading logs neither the key, nor a header's credential, nor the query of the URL."""
    with judging(verdict={"score": 1}) as server:
        await judge_at(server.url).grade(**TEXTS)
    assert_log_keeps_secrets(caplog)


@pytest.mark.parametrize("name", FAULTS)
async def test_no_failure_shows_the_key(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """However a judge fails and whatever it echoes, error, traceback with locals, pickle and logs are clean."""
    with judging(verdict={"score": 1}, fault=FAULTS[name]) as server:
        await assert_failure_keeps_secrets(server.url, caplog)


@pytest.mark.parametrize(
    "answer",
    [f"HTTP/1.1 {ECHO}\r\n\r\n", f"{ECHO}\r\n\r\n", f"HTTP/1.1 200 OK\r\n{ECHO}\r\n\r\n"],
    ids=["status line", "no HTTP", "header"],
)
async def test_no_garbage_shows_the_key(answer: str, caplog: pytest.LogCaptureFixture) -> None:
    """The key does not leak where the libraries quote bytes that they could not read."""
    async with listen(sending(answer.encode())) as host:
        await assert_failure_keeps_secrets(f"http://{host}", caplog)


async def test_nonsense_that_echoes_is_redacted(caplog: pytest.LogCaptureFixture) -> None:
    """The start of an unparseable answer is scrubbed before it is cut, so that half a key is never left."""
    filler = "x" * (300 - len(TOKEN) // 2)
    with judging(content=f"{filler} {TOKEN} {API_KEY}") as server:
        error = await assert_failure_keeps_secrets(server.url, caplog)
    assert isinstance(error, JudgeUnparseableError)
    assert TOKEN[: len(TOKEN) // 3] not in error.start


async def test_a_reason_that_echoes_is_redacted() -> None:
    """A key in the reason of a verdict is redacted, and a shared redactor learns the key."""
    redactor = Redactor()
    with judging(verdict={"score": 1, "reason": "{{authorization}} " + API_KEY}) as server:
        judge = LLMJudge(server.url, "m", api_key=TOKEN, headers={"X-Api-Key": API_KEY}, redactor=redactor)
        verdict = await judge.grade(**TEXTS)
        assert_no_leak([("judge", repr(judge) + judge.description), ("verdict", repr(verdict))])
    assert verdict.reason == "Bearer [redacted] [redacted]"
    assert redactor.scrub(TOKEN) == "[redacted]"


async def test_a_cancelled_grading_shows_no_key() -> None:
    """A cancelled grading leaves no traceback whose locals contain the key."""
    with judging(verdict={"score": 1}, fault="no-headers") as server:
        grading = asyncio.create_task(judge_at(server.url).grade(**TEXTS))
        await asyncio.to_thread(server.wait_for_requests, 1)
        grading.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await grading
    assert_error_keeps_secrets(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"url": f"http://judge.test{QUERY}"},
        {"url": f"http://judge.test{QUERY}", "api_key": TOKEN},
        {"url": f"ftp://judge.test{QUERY}"},
        {"url": f"https://judge.test{QUERY}", "headers": {"X-Api-Key": f"{API_KEY}\n"}},
        {"url": f"https://judge.test{QUERY}", "headers": {"X-Api-Key": API_KEY, "Host": "x"}},
        {"url": "http://judge.test", "headers": {"X-Api-Key": API_KEY}},
    ],
)
def test_a_judge_that_cannot_be_made_shows_nothing(settings: Any) -> None:
    """The error for invalid settings of a judge shows none of them, in no frame."""
    with pytest.raises(UsageError) as caught:
        LLMJudge(model="m", **settings)
    assert_error_keeps_secrets(caught.value)


@pytest.mark.parametrize("key", [f"{TOKEN}\n", f"{TOKEN} x", f"{TOKEN}é"])
def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    """The error for a key that HTTP cannot carry does not show it, in no frame."""
    with pytest.raises(UsageError) as caught:
        LLMJudge("http://x", "m", api_key=key)
    assert_error_keeps_secrets(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {URL_VARIABLE: ""},
        {URL_VARIABLE: "x"},
        {URL_VARIABLE: f"http://judge.test{QUERY}"},
        {MODEL_VARIABLE: "", URL_VARIABLE: f"https://judge.test{QUERY}"},
        {KEY_VARIABLE: f"{TOKEN} {API_KEY}"},
    ],
)
def test_settings_of_the_environment_are_not_shown(wrong: dict[str, str]) -> None:
    """The error for invalid variables shows no key, in no frame."""
    with pytest.raises(UsageError) as caught:
        LLMJudge.from_environment({URL_VARIABLE: "http://x", MODEL_VARIABLE: "m", KEY_VARIABLE: TOKEN, **wrong})
    assert_error_keeps_secrets(caught.value)
