"""A judge behind a chat-completions endpoint, on real sockets: what is sent to it, and what is read from its answer."""

import asyncio
import json
import re
from typing import Any

import pytest

from fake_server import FakeServer
from remote_evals import Redactor, UsageError
from remote_evals.errors import JudgeError, JudgeUnparseableError
from remote_evals.judging import JudgeUsage, LLMJudge, Verdict
from remote_evals.judging.endpoint import KEY_VARIABLE, MODEL_VARIABLE, URL_VARIABLE
from tests.serving.deployments import serve
from tests.serving.proxy import open_proxy

FAIR = {"passed": True, "score": 0.9, "reason": "Fair."}
TEXTS = {"rubric": "Is polite.", "request": "Where is order 41?", "reply": "It has shipped."}


def judging(*replies: dict[str, Any], **judge: Any) -> FakeServer:
    return serve(judge={"replies": replies or [{"verdict": FAIR}], **judge})


async def grade(server: FakeServer, **settings: Any) -> Verdict:
    return await LLMJudge(server.url, "m", **settings).grade(**TEXTS)


async def test_a_verdict_is_read_with_what_it_cost() -> None:
    """A verdict has its score, yes or no, reason, tokens and dollars."""
    usage = {"input": 70, "output": 30, "cost_usd": 0.25}
    with judging({"verdict": FAIR, "usage": usage}) as server:
        verdict = await grade(server)
    used = JudgeUsage(input_tokens=70, output_tokens=30, total_tokens=100, cost_usd=0.25, calls=1)
    assert verdict == Verdict(score=0.9, passed=True, reason="Fair.", usage=used)


async def test_usage_that_is_not_reported_costs_nothing_known() -> None:
    """A judge that reports no usage has no tokens and an unknown cost, but one call."""
    with judging({"content": "SCORE: 7/10", "usage": None}) as server:
        verdict = await grade(server)
    assert (verdict.score, verdict.passed, verdict.usage) == (0.7, None, JudgeUsage(calls=1))


async def test_the_request_is_one_that_any_compatible_endpoint_takes() -> None:
    """Model, messages and temperature 0 are sent, the key as bearer token, and no special field."""
    with judging(api_key="judge-key") as server:
        await grade(server, api_key="judge-key", headers={"X-Team": "evals"})
        [request] = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.body.keys() == {"model", "messages", "temperature"}
    assert (request.body["model"], request.body["temperature"]) == ("m", 0.0)
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
    assert request.headers["authorization"] == "Bearer judge-key"
    assert request.headers["x-team"] == "evals"
    assert all(text in request.body["messages"][1]["content"] for text in TEXTS.values())


@pytest.mark.parametrize(("temperature", "sent"), [(0.7, {"temperature": 0.7}), (None, {})])
async def test_a_temperature_can_be_set_or_left_out(temperature: float | None, sent: dict[str, float]) -> None:
    """Another temperature is sent as it is; None sends none, for models that reject it."""
    with judging() as server:
        await grade(server, temperature=temperature)
        body = server.requests[0].body
    assert {key: body[key] for key in body if key == "temperature"} == sent


async def test_every_call_has_a_mark_of_its_own() -> None:
    """Each call has a new mark around the same texts, so that no reply can learn it."""
    with judging() as server:
        for _ in range(2):
            await grade(server)
        marks = [
            re.findall(r"^END REPLY (\w+)$", str(one.body["messages"][1]["content"]), re.M) for one in server.requests
        ]
    assert marks[0] != marks[1]


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
async def test_the_url_may_be_a_base_or_the_whole_endpoint(path: str) -> None:
    """A URL with or without `/v1`, or with the whole path, reaches the same endpoint."""
    with serve(base_path="/llm", judge={"replies": [{"verdict": FAIR}]}) as server:
        judge = LLMJudge(f"{server.url}{path}?team=x", "m")
        assert (await judge.grade(**TEXTS)).score == 0.9
        assert server.requests[0].path == "/llm/v1/chat/completions"
    assert judge.url == f"{server.url}/v1/chat/completions?team=x"
    assert judge.description == f"m at {server.url}/v1/chat/completions"


@pytest.mark.parametrize("url", ["https://x/v4", "https://x/v1beta"])
def test_another_version_in_the_url_is_kept(url: str) -> None:
    """A base that ends with another version gets no `/v1`."""
    assert LLMJudge(url, "m").url == f"{url}/chat/completions"


async def test_one_client_serves_all_gradings_of_a_block() -> None:
    """Many gradings at once work inside a block, even a nested one; after it, each opens its own client."""
    with judging() as server:
        judge = LLMJudge(server.url, "m")
        async with judge, judge:
            verdicts = await asyncio.gather(*(judge.grade(**TEXTS) for _ in range(8)))
        verdicts.append(await judge.grade(**TEXTS))
    assert [verdict.score for verdict in verdicts] == [0.9] * 9


async def test_a_reply_of_any_characters_can_be_judged() -> None:
    """Lone surrogates and control characters in a reply reach the judge."""
    with judging() as server:
        await LLMJudge(server.url, "m").grade(rubric="r", request="q", reply="a\ud83d\x00é")
        assert "a\ud83d\x00é" in server.requests[0].body["messages"][1]["content"]


@pytest.mark.parametrize(
    "content", ["It is great!", "Score: 11/10", '{"passed": true, "score": 0.9, "reason": "a "b""}']
)
async def test_nonsense_is_unparseable_and_is_not_asked_again(content: str) -> None:
    """An unreadable answer is an error with its start and its cost, and nothing is sent again."""
    with judging({"content": content, "usage": {"input": 7}}) as server:
        with pytest.raises(JudgeUnparseableError) as caught:
            await grade(server)
        assert len(server.requests) == 1
        assert str(caught.value).startswith(f"{server.url}/v1/chat/completions: no verdict can be read")
    assert caught.value.start == content
    assert caught.value.usage is not None
    assert caught.value.usage.input_tokens == 7


@pytest.mark.parametrize("content", [None, "", " \n", []])
async def test_an_empty_answer_says_that_tokens_ran_out(content: Any) -> None:
    """An empty answer says that a reasoning model probably ran out of tokens."""
    with judging({"content": content}) as server, pytest.raises(JudgeUnparseableError, match="ran out of tokens"):
        await grade(server)


async def test_an_answer_that_was_cut_off_is_no_verdict() -> None:
    """An answer that hit its token limit is not read, whatever it says so far."""
    with (
        judging({"content": "Score: 0.9\nBut", "finish_reason": "length"}) as server,
        pytest.raises(JudgeUnparseableError, match=r"cut off at its token limit.*ran out of tokens.*Score: 0.9 But"),
    ):
        await grade(server)


async def test_an_answer_in_parts_is_read_as_their_text() -> None:
    """Content that is a list of parts is read as their joined text."""
    with judging(
        {"content": [{"type": "text", "text": '{"score": '}, {"type": "text", "text": "0.5}"}, "x"]}
    ) as server:
        assert (await grade(server)).score == 0.5


def test_a_judge_is_made_from_the_environment() -> None:
    """The three variables make a judge, and its key becomes a secret."""
    redactor = Redactor()
    environ = {URL_VARIABLE: "https://judge.test", MODEL_VARIABLE: " m ", KEY_VARIABLE: " judge-key\n"}
    judge = LLMJudge.from_environment(environ, redactor=redactor)
    assert judge.description == "m at https://judge.test/v1/chat/completions"
    assert redactor.scrub("judge-key") == "[redacted]"


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default the environment of the process is read; a key is optional."""
    monkeypatch.setenv(URL_VARIABLE, "http://judge.test")
    monkeypatch.setenv(MODEL_VARIABLE, "m")
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert LLMJudge.from_environment().model == "m"


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, f"no judge is configured: set {URL_VARIABLE} and {MODEL_VARIABLE}"),
        ({URL_VARIABLE: "http://x", MODEL_VARIABLE: " "}, f"no judge is configured: set {MODEL_VARIABLE}"),
        ({URL_VARIABLE: "judge.test", MODEL_VARIABLE: "m"}, "the judge's URL: 'judge.test' is not a URL"),
        (
            {URL_VARIABLE: "http://u:p4ss@x", MODEL_VARIABLE: "m"},
            "the judge's URL: http://x was given with a user name",
        ),
    ],
)
def test_a_mistake_in_the_settings_says_what_to_edit(environ: dict[str, str], message: str) -> None:
    """A variable that is missing or wrong is named before anything is sent."""
    with pytest.raises(UsageError) as caught:
        LLMJudge.from_environment(environ)
    assert str(caught.value).startswith(message)
    assert "p4ss" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"api_key": "a b"}, "the judge's API key: "),
        ({"api_key": ""}, "the judge's API key: "),
        ({"headers": {"a b": "c"}}, "the judge's headers: "),
    ],
)
def test_a_key_or_header_that_cannot_be_sent_is_refused(settings: Any, message: str) -> None:
    """A key or header that HTTP cannot carry is a usage error."""
    with pytest.raises(UsageError, match=message):
        LLMJudge("http://x", "m", **settings)


async def test_a_judge_that_is_not_one_is_told() -> None:
    """JSON that is not a chat completion is a failed judge, and is quoted."""
    body = {"error": {"message": "model overloaded"}}
    with judging(fault={"name": "status", "status": 200, "body": body}) as server:
        with pytest.raises(
            JudgeError, match=r"\(application/json\) is not a chat completion: model overloaded\. Check"
        ):
            await grade(server)
        assert json.loads(json.dumps(server.requests[0].body))["model"] == "m"


async def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge elsewhere is reached through the proxy of the environment, whose password becomes a secret."""
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    redactor = Redactor()
    with judging() as server:
        async with open_proxy(server.url) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://user:pr0xy-pass@{proxy.host}")
            verdict = await LLMJudge("http://judge.test", "m", redactor=redactor).grade(**TEXTS)
    assert verdict.score == 0.9
    assert proxy.request_lines == ["POST http://judge.test/v1/chat/completions HTTP/1.1"]
    assert redactor.scrub("pr0xy-pass") == "[redacted]"
