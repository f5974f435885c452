"""The scripted judge: chat completions as OpenAI-compatible models send them, and as they fail."""

import json
from typing import Any

import httpx
import pytest

from fake_server import FakeServer, ScriptError, parse_script
from tests.fake_server.wire_client import ask, one, send, serve

FAIR = {"passed": True, "score": 0.9, "reason": "Fair."}


def judging(*replies: dict[str, Any], **judge: Any) -> FakeServer:
    """Return a server whose judge gives these replies."""
    return serve({"token": "agent-token", "replies": [{"text": "Hello."}], "judge": {"replies": replies, **judge}})


def complete(server: FakeServer, *texts: str, key: str | None = None, **body: Any) -> httpx.Response:
    """Return the answer to one completion request with these user messages."""
    messages = [{"role": "user", "content": text} for text in texts]
    headers = {"authorization": f"Bearer {key}"} if key else {"authorization": ""}
    return send(
        server, "POST", "/v1/chat/completions", headers=headers, json={"model": "m", "messages": messages, **body}
    )


def content(answer: httpx.Response) -> Any:
    """Return the content of a completion."""
    assert answer.status_code == 200, answer.text
    return answer.json()["choices"][0]["message"]["content"]


def test_a_verdict_is_sent_as_the_json_text_of_a_completion() -> None:
    """A verdict is the content of a completion of the requested model, with its usage."""
    usage = {"input": 7, "output": 3, "cost_usd": 0.5}
    with judging({"verdict": FAIR, "usage": usage}) as server:
        answer = complete(server, "hi")
    body = answer.json()
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(content(answer)) == FAIR
    assert (body["object"], body["model"]) == ("chat.completion", "m")
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, "cost": 0.5}


def test_the_first_reply_that_holds_for_the_last_user_message_answers() -> None:
    """Replies are chosen by the last user message alone, by text in any case and by pattern."""
    replies: list[dict[str, Any]] = [
        {"when": {"input": "POLITE", "matches": r"\d"}, "content": "both"},
        {"when": {"input": "polite"}, "content": "text"},
        {"content": "{{input}}"},
    ]
    with judging(*replies) as server:
        asked = [("polite", "polite 7"), ("x", "Polite"), ("polite", "rude")]
        assert [content(complete(server, *texts)) for texts in asked] == ["both", "text", "rude"]


def test_a_message_may_be_a_list_of_parts() -> None:
    """Content parts are read as their text."""
    with judging({"when": {"input": "polite"}, "content": "yes"}) as server:
        parts = [{"type": "text", "text": "is it polite?"}]
        answer = complete(server, messages=[{"role": "user", "content": parts}])
        assert content(answer) == "yes"


def test_any_content_can_be_given_without_usage_and_cut_off() -> None:
    """A reply can have no content, no usage and another finish reason."""
    with judging({"content": None, "usage": None, "finish_reason": "length"}) as server:
        body = complete(server, "hi").json()
    assert body["choices"][0] == {
        "index": 0,
        "message": {"role": "assistant", "content": None},
        "finish_reason": "length",
    }
    assert "usage" not in body


def test_the_judge_has_a_key_of_its_own() -> None:
    """The judge accepts its own key and not the agent's token, and the agent does not accept the judge's key."""
    with judging({"verdict": FAIR}, api_key="judge-key") as server:
        assert [complete(server, "hi", key=key).status_code for key in ("judge-key", "agent-token", None)] == [
            200,
            401,
            401,
        ]
        assert complete(server, "hi").json()["error"]["code"] == "invalid_api_key"
        assert send(server, "POST", "/chat", headers={"authorization": "Bearer judge-key"}).status_code == 401


def test_without_a_key_anybody_may_ask_the_judge() -> None:
    """A judge without a key answers any request, even if the agent needs a token."""
    with judging({"verdict": FAIR}) as server:
        assert complete(server, "hi").status_code == 200


def test_a_question_without_a_reply_names_what_is_missing() -> None:
    """A question without a reply gets an error that quotes it."""
    with judging({"when": {"input": "polite"}, "verdict": FAIR}) as server:
        answer = complete(server, "is it rude?")
    assert answer.status_code == 500
    assert "no reply for 'is it rude?'" in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [{"model": 1}, {"messages": []}, {"messages": "hi"}])
def test_a_request_that_is_none_is_refused(body: dict[str, Any]) -> None:
    """A request without a model or messages is answered with 400."""
    with judging({"verdict": FAIR}) as server:
        assert complete(server, "hi", **body).status_code == 400


def test_a_script_without_a_judge_has_no_such_route() -> None:
    """Without the key `judge` the route is not found."""
    with serve([{"text": "hi"}]) as server:
        assert complete(server, "hi").status_code == 404


def test_the_faults_of_the_judge_are_not_the_agents() -> None:
    """The faults of the judge and those of the agent strike separately."""
    script = {
        "fault": {"name": "unavailable", "times": 1},
        "replies": [{"text": "Hello."}],
        "judge": {"fault": {"name": "server-error", "times": 1}, "replies": [{"verdict": FAIR, "fault": "html"}]},
    }
    with serve(script) as server:
        answers = [complete(server, "hi") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [500, 200]
        assert answers[1].headers["content-type"] == "text/html"
        assert send(server, "POST", "/chat", json={"sessionId": "s", "input": "hi"}).status_code == 503
        assert one(ask(server), "run.done")["text"] == "Hello."


def test_a_rate_limit_says_when_to_come_back() -> None:
    """A 429 has its Retry-After, and the request after it is answered."""
    with judging({"verdict": FAIR, "fault": {"name": "rate-limited", "times": 1, "retry_after": 3}}) as server:
        first, second = complete(server, "hi"), complete(server, "hi")
    assert (first.status_code, first.headers["retry-after"], second.status_code) == (429, "3", 200)


@pytest.mark.parametrize("fault", [{"name": "cut", "after": 1}, {"name": "reset", "after": 1}])
def test_an_answer_can_break_in_the_middle(fault: dict[str, Any]) -> None:
    """The connection breaks after half of the answer."""
    with judging({"verdict": FAIR, "fault": fault}) as server, pytest.raises(httpx.TransportError):
        complete(server, "hi")


def test_half_an_answer_can_end_as_if_it_were_whole() -> None:
    """A complete body can end in the middle of its JSON."""
    with judging({"verdict": FAIR, "fault": "half-frame"}) as server:
        answer = complete(server, "hi")
    with pytest.raises(json.JSONDecodeError):
        answer.json()


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ("{replies: [{}]}", "replies[0]: a judge reply needs either 'verdict' or 'content', not both"),
        (
            "{replies: [{verdict: {}, content: x}]}",
            "replies[0]: a judge reply needs either 'verdict' or 'content', not both",
        ),
        ("{replies: [{verdct: {}}]}", "replies[0]: unknown key 'verdct'. Did you mean 'verdict'?"),
        ("{replies: []}", "replies: should have at least one item, got []"),
        ("{}", "replies: is missing"),
        ("{replies: [{content: x, fault: no-run-done}]}", "replies[0].fault: fault 'no-run-done' is only for runs"),
        ("{fault: no-run-done, replies: [{content: x}]}", "fault: fault 'no-run-done' is only for runs"),
    ],
)
def test_a_mistake_in_the_judge_is_told_with_its_place(judge: str, problem: str) -> None:
    """A problem below `judge` is reported with its path."""
    with pytest.raises(ScriptError) as caught:
        parse_script(f"replies: [{{text: x}}]\njudge: {judge}", "x.yaml")
    assert f"judge.{problem}" in caught.value.problems[0]
